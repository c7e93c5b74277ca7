import type { Shown } from '../app/shown';
import { branchName, formatCount, formatProbability, kStateWords, leafLength, votesFor } from '../draw/words';
import { textTail } from '../model/branch_text';
import type { Segment } from '../model/tree';
import { useChanges } from './hooks';
import { StateMark } from './state_mark';

interface Props {
  run: Shown;
  leaf: Segment | null;
  other: Segment | null;
  onRead(leaf: Segment): void;
  onCompare(leaf: Segment | null): void;
}

/** Every branch in a row: the drawing's words. */
export function BranchTable({ run, leaf, other, onRead, onCompare }: Props) {
  useChanges(run.changes, 300);
  const { tree } = run;
  const leaves = tree.leaves();
  if (leaves.length === 0) return <p class="empty">No branch has started yet.</p>;
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Branches">
      <table>
        <thead>
          <tr>
            <th scope="col">Branch</th>
            <th scope="col">State</th>
            <th scope="col">Answer</th>
            <th scope="col" class="number">
              Votes
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number" title="Geometric mean of the tokens' probabilities">
              Per token
            </th>
            <th scope="col">Ends with</th>
            <th scope="col">Compare</th>
          </tr>
        </thead>
        <tbody>
          {leaves.map((entry) => {
            const answer = entry.ending?.answer ?? null;
            const isWinner = entry === tree.winner;
            const name = branchName(entry);
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
                <td class="state">
                  <StateMark state={entry.state} winner={isWinner} /> {isWinner ? 'winner' : kStateWords[entry.state]}
                </td>
                <td class="mono">{answer ?? ''}</td>
                <td class="number">{answer === null ? '' : formatCount(votesFor(tree, answer))}</td>
                <td class="number">{formatCount(leafLength(entry))}</td>
                <td class="number">
                  {Number.isFinite(entry.ending?.meanLogprob) ? formatProbability(entry.ending!.meanLogprob) : ''}
                </td>
                <td class="tail">{`…${textTail(entry, 40)}`}</td>
                <td>
                  <input
                    type="checkbox"
                    checked={entry === other}
                    disabled={leaf === null || entry === leaf}
                    aria-label={`Compare with ${name}`}
                    onChange={() => onCompare(entry === other ? null : entry)}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
