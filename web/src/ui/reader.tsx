import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Shown } from '../app/shown';
import {
  branchName,
  firstToken,
  formatNats,
  formatProbability,
  kStateWords,
  leafLength,
  plural,
  visibleToken,
  votesFor,
} from '../draw/words';
import { textRuns, segmentsText, type TextRun } from '../model/branch_text';
import { comparePaths } from '../model/compare';
import { leafBelow, pathTo, type Segment, type Tree } from '../model/tree';
import { Choice } from './choice';
import { chunkRuns } from './chunks';
import { useChanges } from './hooks';
import { answerColour, AnswerMark, Verdict } from './answer_mark';
import { BranchMark } from './branch_mark';
import { RichText } from './rich_text';
import { StateMark } from './state_mark';

interface Props {
  run: Shown;
  leaf: Segment | null;
  other: Segment | null;
  following: boolean; // the reader chose the leaf itself
  onRead(leaf: Segment): void;
  onCompare(leaf: Segment | null): void;
}

/** The text of a branch; of two of them, side by side. */
export function Reader({ run, leaf, other, following, onRead, onCompare }: Props) {
  useChanges(run.changes, 120);
  const [formatted, setFormatted] = useState(true);
  const { tree } = run;
  if (leaf === null) {
    return (
      <section class="reader" aria-label="Branch">
        <p class="empty">Choose a branch to read it.</p>
      </section>
    );
  }
  return (
    <section class="reader" aria-label={other === null ? 'Branch' : 'Two branches'}>
      <header class="reader-head">
        {other === null && (
          <BranchTitle run={run} leaf={leaf} note={following && tree.outcome === null ? 'most probable so far' : ''} />
        )}
        <CompareWith tree={tree} leaf={leaf} other={other} onCompare={onCompare} />
        <label class="format">
          <input type="checkbox" checked={formatted} onChange={(event) => setFormatted(event.currentTarget.checked)} />{' '}
          Format the answer
        </label>
      </header>
      {other === null ? (
        <Scroller key={leaf.id} live={leaf.state === 'live'}>
          <BranchText tree={tree} path={pathTo(leaf)} from={0} onRead={onRead} formatted={formatted} />
        </Scroller>
      ) : (
        <Comparison run={run} left={leaf} right={other} onRead={onRead} formatted={formatted} />
      )}
    </section>
  );
}

function BranchTitle({ run, leaf, note = '' }: { run: Shown; leaf: Segment; note?: string }) {
  const { tree } = run;
  const answer = leaf.ending?.answer ?? null;
  const isWinner = leaf === tree.winner;
  const votes = votesFor(tree, answer);
  const mean = leaf.ending?.meanLogprob ?? NaN;
  return (
    <div class="branch-title">
      <h3>
        {leaf.state !== 'finished' && <BranchMark run={run} leaf={leaf} />}
        {isWinner && <span title="The winner">★</span>}
        Branch {branchName(leaf)}
        {answer !== null && answer !== '' && (
          <span class={`branch-answer answer-${answerColour(run, answer).name}`}>
            <AnswerMark colour={answerColour(run, answer)} /> <span class="ink">{answer}</span>
          </span>
        )}
        <Verdict answer={answer} reference={run.reference} />
      </h3>
      <p class="hint">
        {[
          isWinner ? 'wins' : kStateWords[leaf.state],
          plural(leafLength(leaf), 'token'),
          votes > 0 ? `${plural(votes, 'vote')} for its answer` : '',
          Number.isFinite(mean) ? `a token had a probability of ${formatProbability(mean)} in the mean` : '',
          note,
        ]
          .filter((part) => part !== '')
          .join(' · ')}
      </p>
    </div>
  );
}

function CompareWith({
  tree,
  leaf,
  other,
  onCompare,
}: Pick<Props, 'other' | 'onCompare'> & { tree: Tree; leaf: Segment }) {
  const leaves = tree.leaves().filter((candidate) => candidate !== leaf);
  if (leaves.length === 0) return null;
  const choose = (value: string) => onCompare(value === '' ? null : (tree.segments.get(Number(value)) ?? null));
  return (
    <label class="compare-with">
      <span class="label">Compare with</span>
      <select value={other?.id ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">no other branch</option>
        {leaves.map((candidate) => (
          <option key={candidate.id} value={candidate.id}>
            {branchName(candidate)}{' '}
            {candidate.ending?.answer ? `→ ${candidate.ending.answer}` : `(${kStateWords[candidate.state]})`}
          </option>
        ))}
      </select>
    </label>
  );
}

function Comparison({
  run,
  left,
  right,
  onRead,
  formatted,
}: {
  run: Shown;
  left: Segment;
  right: Segment;
  onRead(leaf: Segment): void;
  formatted: boolean;
}) {
  const { tree } = run;
  const { shared, left: mine, right: theirs, decision } = comparePaths(left, right);
  const text = segmentsText(shared);
  // An answer that both have begun could not be read from its middle.
  const whole = textRuns(shared, tree.opening?.opensThinking ?? false).every(({ part }) => part === 'thinking');
  const took = (segment: Segment) => `“${firstToken(segment)}” (${formatProbability(segment.logprob.at(0))})`;
  return (
    <div class="comparison">
      {shared.length > 0 ? (
        <details class="shared">
          <summary>
            Both begin with{' '}
            {plural(
              shared.reduce((sum, segment) => sum + segment.length, 0),
              'token',
            )}
          </summary>
          <div class="text-block">{text}</div>
        </details>
      ) : (
        <p class="hint">They share nothing: each started at the question.</p>
      )}
      {mine.length > 0 && theirs.length > 0 ? (
        <p class="parting">
          {decision !== null && (
            <>
              <StateMark state="split" /> They part at token {decision.position + 1}, where entropy is{' '}
              {formatNats(decision.entropy)} and varentropy {formatNats(decision.varentropy)}: {branchName(left)} goes
              on with {took(mine[0]!)}, {branchName(right)} with {took(theirs[0]!)}.
            </>
          )}
        </p>
      ) : (
        <p class="parting">One is the beginning of the other.</p>
      )}
      <div class="columns">
        {[
          { leaf: left, own: mine },
          { leaf: right, own: theirs },
        ].map(({ leaf, own }) => (
          <div class="column" key={leaf.id} tabIndex={0} role="group" aria-label={`Branch ${branchName(leaf)}`}>
            <BranchTitle run={run} leaf={leaf} />
            <BranchText
              tree={tree}
              path={[...shared, ...own]}
              from={shared.length}
              onRead={onRead}
              formatted={formatted && whole}
            />
          </div>
        ))}
      </div>
    </div>
  );
}

/** Keeps the end in sight while a live branch grows, unless somebody has scrolled up. */
function Scroller({ live, children }: { live: boolean; children: preact.ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (live && atEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  });
  const scrolled = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    atEnd.current = scrollTop + clientHeight > scrollHeight - 40;
  };
  return (
    <div class="scroller" ref={box} onScroll={scrolled} tabIndex={0} role="group" aria-label="Text of the branch">
      {children}
    </div>
  );
}

/** The runs of `path` from its segment `from` on. */
function BranchText({
  tree,
  path,
  from,
  onRead,
  formatted,
}: {
  tree: Tree;
  path: Segment[];
  from: number;
  onRead(leaf: Segment): void;
  formatted: boolean; // the answer's Markdown and formulas
}) {
  const opensThinking = tree.opening?.opensThinking ?? false;
  const length = path.reduce((sum, segment) => sum + segment.length, 0);
  const leaf = path[path.length - 1];
  const blocks = useMemo(() => {
    const runs = textRuns(path, opensThinking);
    const skipped = segmentsText(path.slice(0, from)).length;
    return chunkRuns(from === 0 ? runs : runsAfter(runs, path, skipped, opensThinking, from));
  }, [leaf, length, from, opensThinking]);
  const parts = (['thinking', 'answer'] as const).map((part) => ({
    part,
    blocks: blocks.filter((block) => block.part === part),
  }));
  return (
    <div class="branch-text">
      {parts.map(({ part, blocks: list }) =>
        list.length === 0 ? null : (
          <div key={part} class={`part ${part}`}>
            <h4>{part === 'thinking' ? 'Thinking' : 'Answer'}</h4>
            {formatted && part === 'answer' && (
              <RichText text={list.flatMap((block) => block.runs.map((run) => run.text)).join('')} />
            )}
            {(!formatted || part === 'thinking') &&
              list.map((block, i) => (
                <div class={`text-block ${list.length > 2 ? 'one-of-many' : ''}`} key={i}>
                  {block.runs.map((run, j) =>
                    run.decided === null ? run.text : <Decided key={j} tree={tree} run={run} onRead={onRead} />,
                  )}
                </div>
              ))}
          </div>
        ),
      )}
    </div>
  );
}

/** What of the whole path's runs lies in its segments from `from` on: tags may have been opened before. */
function runsAfter(runs: TextRun[], path: Segment[], skipped: number, opensThinking: boolean, from: number): TextRun[] {
  const before = textRuns(path.slice(0, from), opensThinking).reduce((sum, run) => sum + run.text.length, 0);
  let left = Math.min(before, skipped);
  const after: TextRun[] = [];
  for (const run of runs) {
    const cut = Math.min(left, run.text.length);
    left -= cut;
    if (cut < run.text.length) after.push({ ...run, text: run.text.slice(cut) });
  }
  return after;
}

/** A token that a decision gave. Pressed, it tells the alternatives; each leads to its branch. */
function Decided({ tree, run, onRead }: { tree: Tree; run: TextRun; onRead(leaf: Segment): void }) {
  const [open, setOpen] = useState(false);
  const segment = run.decided!;
  const decision = segment.parent?.decision;
  useEffect(() => setOpen(false), [segment]);
  const siblings = segment.parent?.children ?? [];
  const word = run.text.trimStart();
  return (
    <>
      {word === '' ? '' : run.text.slice(0, run.text.length - word.length)}
      <button type="button" class="decided" aria-expanded={open} onClick={() => setOpen(!open)}>
        {word === '' ? visibleToken(run.text) : word}
      </button>
      {open && (
        <span class="alternatives" role="group" aria-label="Alternatives">
          <span class="hint">
            entropy {formatNats(decision?.entropy ?? NaN)}, varentropy {formatNats(decision?.varentropy ?? NaN)}
          </span>
          {siblings.map((sibling) => (
            <button
              type="button"
              key={sibling.id}
              class="alternative"
              aria-current={sibling === segment ? 'true' : undefined}
              onClick={() => onRead(leafBelow(sibling, tree.winner))}
            >
              <Choice segment={sibling} />
            </button>
          ))}
        </span>
      )}
    </>
  );
}
