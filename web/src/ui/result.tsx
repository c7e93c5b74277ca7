import type { Shown } from '../app/shown';
import { formatCount, formatSeconds, plural, reasonInWords } from '../draw/words';
import type { Vote } from '../model/events';
import { useChanges } from './hooks';

const kMostAnswers = 4;

/** The answer, who voted for it, and what it took. */
export function Result({ run }: { run: Shown }) {
  useChanges(run.changes, 100);
  const { tree } = run;
  const { outcome } = tree;
  const winning = outcome?.answer ?? null;
  const leading = tree.votes[0]?.answer;
  const undecided = run.active || outcome?.reason === 'running';
  return (
    <section class="result" aria-labelledby="question">
      <h2 id="question" class="question" tabIndex={run.question.length > 90 ? 0 : undefined}>
        {run.question}
      </h2>
      {run.error !== null && (
        <p class="error" role="alert">
          {run.error}
        </p>
      )}
      {!run.refused && (
        <>
          <div class="verdict">
            <div class="answer">
              <span class="label">{undecided ? (leading === undefined ? 'Thinking' : 'Leading') : 'Answer'}</span>
              <output class="value">{winning ?? leading ?? (undecided ? '…' : 'none')}</output>
              <span class="hint">{headline(run)}</span>
            </div>
            {tree.votes.length > 0 && <Votes votes={tree.votes} winning={winning} />}
          </div>
          <p class="figures">{figures(run)}</p>
        </>
      )}
    </section>
  );
}

function headline(run: Shown): string {
  const { tree } = run;
  if (run.phase === 'starting') return run.id === null ? 'Waiting for the server' : 'Waiting for its turn';
  const reason = tree.outcome === null ? null : reasonInWords(tree.outcome.reason);
  const finished = tree.finishedLeaves.length;
  const votes = tree.votes[0]?.votes ?? 0;
  const all = tree.votes.reduce((sum, vote) => sum + vote.votes, 0);
  const agreed =
    all > 1 ? `${votes} of ${all} finished branches agree` : plural(finished, 'branch finished', 'branches finished');
  if (!run.active)
    return [reason, finished > 0 ? agreed : 'No branch finished'].filter((text) => text !== null).join(' ');
  if (tree.segments.size === 0) {
    const { prefill } = tree;
    return prefill === null
      ? 'Reading the question'
      : `Reading the question: ${prefill.done} of ${prefill.total} tokens`;
  }
  const needed = tree.needed === 'all' ? '' : ` of ${tree.needed}`;
  return `${plural(tree.count('live'), 'branch grows', 'branches grow')}, ${finished}${needed} finished`;
}

function figures(run: Shown): string {
  const { tree } = run;
  const parts = [tree.opening?.methodName ?? '', plural(tree.tokens, 'token'), plural(tree.step, 'step')];
  const { outcome, opening } = tree;
  if (outcome !== null && outcome.account.branches > 0) {
    const { branches, branchTokens, uniqueTokens } = outcome.account;
    parts.push(plural(branches, 'branch', 'branches'));
    if (uniqueTokens > 0 && branchTokens > uniqueTokens) {
      parts.push(`shared ${(branchTokens / uniqueTokens).toFixed(1)}×`);
    }
    if (Number.isFinite(outcome.seconds)) parts.push(formatSeconds(outcome.seconds));
  }
  if (opening !== null && opening.seed !== '') parts.push(`seed ${opening.seed}`);
  return parts.filter((part) => part !== '').join(' · ');
}

function Votes({ votes, winning }: { votes: Vote[]; winning: string | null }) {
  const most = votes.reduce((largest, vote) => Math.max(largest, vote.votes), 1);
  const shown = votes.slice(0, kMostAnswers);
  return (
    <ol class="votes" aria-label="Votes">
      {shown.map(({ answer, votes: count }) => (
        <li key={answer} class={answer === winning ? 'winning' : ''}>
          <span class="vote-answer">
            {answer === winning ? '★ ' : ''}
            {answer === '' ? 'no answer' : answer}
          </span>
          <progress max={most} value={count} aria-hidden="true" />
          <span class="vote-count" aria-label={plural(count, 'vote')}>
            {formatCount(count)}
          </span>
        </li>
      ))}
      {votes.length > kMostAnswers && <li class="hint">and {plural(votes.length - kMostAnswers, 'other answer')}</li>}
    </ol>
  );
}
