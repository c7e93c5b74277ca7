import { useEffect, useRef, useState } from 'preact/hooks';
import type { Shown } from '../app/shown';
import { formatCount, formatSeconds, plural, reasonInWords } from '../draw/words';
import { AnswerMark, answerColour, Verdict } from './answer_mark';
import { useChanges } from './hooks';
import { Progress } from './progress';
import { AnswerText } from './rich_text';

const kMostAnswers = 4;
const kLongAnswer = 60; // characters

/** The answer, who voted for it, and what it took. */
export function Result({ run, children }: { run: Shown; children?: preact.ComponentChildren }) {
  useChanges(run.changes, 100);
  return (
    <section class="result" aria-labelledby="question">
      {children}
      <Question text={run.question} />
      {run.error !== null && (
        <p class="error" role="alert">
          {run.error}
        </p>
      )}
      {!run.refused && <Outcome run={run} />}
    </section>
  );
}

/** A long question is cut after three lines, with a way to see the rest. */
function Question({ text }: { text: string }) {
  const box = useRef<HTMLHeadingElement>(null);
  const [whole, setWhole] = useState(false);
  const [cut, setCut] = useState(false);
  useEffect(() => setWhole(false), [text]);
  useEffect(() => {
    const heading = box.current!;
    const look = () => setCut(heading.scrollHeight > heading.clientHeight + 2);
    const observer = new ResizeObserver(look);
    observer.observe(heading);
    look();
    return () => observer.disconnect();
  }, [text]);
  return (
    <div class="question-box">
      <h2 id="question" class={`question ${whole ? 'whole' : ''}`} ref={box}>
        {text}
      </h2>
      {(cut || whole) && (
        <button type="button" class="link" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Less' : 'All of it'}
        </button>
      )}
    </div>
  );
}

/** The answer so far with its votes and figures: of a run, or of a lane. */
export function Outcome({ run, lane = false }: { run: Shown; lane?: boolean }) {
  const { tree } = run;
  const { outcome } = tree;
  const winning = outcome?.answer ?? null;
  const leading = tree.votes[0]?.answer ?? null;
  const undecided = run.active || outcome?.reason === 'running';
  const answer = winning ?? leading;
  return (
    <>
      <div class="verdict">
        <div class="answer">
          <span class="label">{undecided ? (leading === null ? 'Thinking' : 'Leading') : 'Answer'}</span>
          <output
            aria-live="off" /* the announcer says it, once */
            class={`value ${(answer?.length ?? 0) > kLongAnswer ? 'long' : ''}`}
            tabIndex={(answer?.length ?? 0) > kLongAnswer ? 0 : undefined}
          >
            {answer === null ? (
              undecided ? (
                '…'
              ) : (
                'none'
              )
            ) : (
              <>
                <AnswerMark colour={answerColour(run, answer)} />
                <AnswerText answer={answer} />
              </>
            )}
          </output>
          {!undecided && <Verdict answer={answer} reference={run.reference} />}
          <span class="hint">{headline(run)}</span>
        </div>
        {tree.votes.length > 0 && <Votes run={run} winning={winning} />}
      </div>
      {run.active && <Progress run={run} />}
      <p class="figures">{figures(run, lane)}</p>
    </>
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

/** A lane has the method's name above it. */
function figures(run: Shown, lane: boolean): string {
  const { tree } = run;
  const parts = [lane ? '' : (tree.opening?.methodName ?? ''), plural(tree.tokens, 'token'), plural(tree.step, 'step')];
  const { outcome, opening } = tree;
  if (outcome !== null && outcome.account.branches > 0) {
    const { branches, branchTokens, uniqueTokens } = outcome.account;
    parts.push(plural(branches, 'branch', 'branches'));
    if (uniqueTokens > 0 && branchTokens > uniqueTokens) {
      parts.push(`each token shared by ${(branchTokens / uniqueTokens).toFixed(1)} branches`);
    }
    if (Number.isFinite(outcome.seconds)) parts.push(formatSeconds(outcome.seconds));
  }
  if (opening !== null && opening.seed !== '') parts.push(`seed ${opening.seed}`);
  return parts.filter((part) => part !== '').join(' · ');
}

function Votes({ run, winning }: { run: Shown; winning: string | null }) {
  const { votes } = run.tree;
  const most = votes.reduce((largest, vote) => Math.max(largest, vote.votes), 1);
  const shown = votes.slice(0, kMostAnswers);
  return (
    <ol class="votes" aria-label="Votes">
      {shown.map(({ answer, votes: count }) => {
        const colour = answerColour(run, answer);
        return (
          <li key={answer} class={answer === winning ? 'winning' : ''}>
            <span class="vote-answer">
              {answer === winning ? '★ ' : ''}
              <AnswerMark colour={colour} /> {answer === '' ? 'no answer' : answer}
            </span>
            <progress class={`answer-${colour.name}`} max={most} value={count} aria-hidden="true" />
            <span class="vote-count">
              {formatCount(count)}
              <span class="unseen"> {count === 1 ? 'vote' : 'votes'}</span>
            </span>
          </li>
        );
      })}
      {votes.length > kMostAnswers && <li class="hint">and {plural(votes.length - kMostAnswers, 'other answer')}</li>}
    </ol>
  );
}
