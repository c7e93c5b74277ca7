import { useEffect, useRef, useState } from 'preact/hooks';
import type { Run } from '../app/run';
import { plural } from '../draw/words';

const kPauseMs = 8000; // between words about progress

/** What a screen reader is told: the turns at once, progress now and then. */
export function Announcer({ run, serverGone }: { run: Run | null; serverGone: boolean }) {
  const [words, setWords] = useState('');
  const last = useRef({ phase: '', at: 0, connected: true });
  useEffect(() => {
    if (run === null) return undefined;
    last.current = { phase: '', at: performance.now(), connected: true };
    const listen = () => {
      const { phase, at, connected } = last.current;
      const now = performance.now();
      if (run.connected !== connected) {
        last.current.connected = run.connected;
        setWords(run.connected ? 'The server is back.' : 'The connection to the server is lost. Trying again.');
      } else if (run.phase !== phase) {
        last.current.phase = run.phase;
        last.current.at = now;
        setWords(turn(run));
      } else if (run.active && now - at > kPauseMs) {
        last.current.at = now;
        setWords(progress(run));
      }
    };
    listen();
    return run.changes.subscribe(listen);
  }, [run]);
  useEffect(() => {
    if (serverGone) setWords('The server cannot be reached. Trying again.');
  }, [serverGone]);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {words}
    </div>
  );
}

function turn(run: Run): string {
  const { outcome } = run.tree;
  if (run.phase === 'starting') return 'Asked.';
  if (run.phase === 'running') return 'The tree is growing.';
  if (run.phase !== 'done' || outcome === null) return run.error ?? 'The run ended.';
  if (outcome.reason === 'cancelled') return 'Cancelled.';
  if (outcome.answer === null) return 'Done, without an answer.';
  const votes = run.tree.votes[0]?.votes ?? 0;
  return `The answer is ${outcome.answer}, with ${plural(votes, 'vote')}.`;
}

function progress({ tree }: Run): string {
  const leading = tree.votes[0];
  const lead = leading === undefined ? '' : ` ${leading.answer} leads with ${plural(leading.votes, 'vote')}.`;
  const growing = plural(tree.count('live'), 'branch grows', 'branches grow');
  return `${growing}, ${tree.finishedLeaves.length} finished.${lead}`;
}
