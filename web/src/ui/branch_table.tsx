import type { Shown } from '../app/shown';
import { branchName, formatCount, formatProbability, kStateWords, leafLength, plural, votesFor } from '../draw/words';
import { textTail } from '../model/branch_text';
import type { Segment, Tree } from '../model/tree';
import { answerColour, AnswerMark, Verdict } from './answer_mark';
import { BranchMark } from './branch_mark';
import { useChanges } from './hooks';

interface Props {
  run: Shown;
  leaf: Segment | null;
  other: Segment | null;
  onRead(leaf: Segment): void;
  onCompare(leaf: Segment | null): void;
}

interface Group {
  answer: string | null; // null: those without one
  leaves: Segment[];
}

/** Branches by their answers: the winner's first, then by votes; those that gave none last. */
function groupsOf(tree: Tree): Group[] {
  const groups = new Map<string | null, Segment[]>();
  for (const { answer } of tree.votes) groups.set(answer, []);
  const none: Segment[] = [];
  for (const leaf of tree.leaves()) {
    const answer = leaf.ending?.answer ?? null;
    if (answer === null || answer === '') none.push(leaf);
    else if (groups.has(answer)) groups.get(answer)!.push(leaf);
    else groups.set(answer, [leaf]);
  }
  const list = [...groups].map(([answer, leaves]) => ({ answer, leaves }));
  const winning = tree.outcome?.answer ?? null;
  list.sort((a, b) => Number(b.answer === winning) - Number(a.answer === winning));
  return [...list, { answer: null, leaves: none }].filter(({ leaves }) => leaves.length > 0);
}

/** Every branch in a row, under its answer: the drawing's words. */
export function BranchTable(props: Props) {
  const { run } = props;
  useChanges(run.changes, 300);
  const groups = groupsOf(run.tree);
  if (groups.length === 0) return <p class="empty">No branch has started yet.</p>;
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Branches">
      <table class="branches">
        <thead>
          <tr>
            <th scope="col">Branch</th>
            <th scope="col">Compare</th>
            <th scope="col">How it ended</th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number" title="The geometric mean of the probabilities of its tokens">
              Mean probability
            </th>
            <th scope="col" class="wide">
              Its last words
            </th>
          </tr>
        </thead>
        {groups.map((group) => (
          <Rows key={group.answer ?? ''} group={group} {...props} />
        ))}
      </table>
    </div>
  );
}

function Rows({ group: { answer, leaves }, run, leaf, other, onRead, onCompare }: Props & { group: Group }) {
  const { tree } = run;
  const votes = votesFor(tree, answer);
  return (
    <tbody>
      <tr class="group">
        <th scope="rowgroup" colSpan={6}>
          {answer === null ? (
            'No answer'
          ) : (
            <>
              <AnswerMark colour={answerColour(run, answer)} /> <span class="mono">{answer}</span>{' '}
              <Verdict answer={answer} reference={run.reference} />{' '}
              <span class="hint">
                {answer === tree.outcome?.answer ? 'wins with ' : ''}
                {plural(votes, 'vote')}
              </span>
            </>
          )}
        </th>
      </tr>
      {leaves.map((entry) => {
        const name = branchName(entry);
        const mean = entry.ending?.meanLogprob ?? NaN;
        return (
          <tr key={entry.id} class={entry === leaf ? 'chosen' : ''}>
            <th scope="row">
              <button
                type="button"
                class="link"
                onClick={() => onRead(entry)}
                aria-current={entry === leaf ? 'true' : undefined}
              >
                {name}
              </button>
            </th>
            <td>
              <input
                type="checkbox"
                checked={entry === other}
                disabled={leaf === null || entry === leaf}
                aria-label={`Compare with ${name}`}
                onChange={() => onCompare(entry === other ? null : entry)}
              />
            </td>
            <td class="state">
              <BranchMark run={run} leaf={entry} /> {entry === tree.winner ? 'winner' : kStateWords[entry.state]}
            </td>
            <td class="number">{formatCount(leafLength(entry))}</td>
            <td class="number">{Number.isFinite(mean) ? formatProbability(mean) : ''}</td>
            <td class="tail">{`…${textTail(entry, 34)}`}</td>
          </tr>
        );
      })}
    </tbody>
  );
}
