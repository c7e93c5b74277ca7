import { useEffect, useRef, useState } from 'preact/hooks';
import type { Shown } from '../app/shown';
import { ScatterView, type ScatterHit } from '../draw/scatter_view';
import { branchName, formatCount, formatNats, formatProbability, plural, visibleToken } from '../draw/words';
import { textTail, tokenContext } from '../model/branch_text';
import { leafBelow, type Segment } from '../model/tree';
import { Choice } from './choice';
import { useChanges } from './hooks';
import { Tooltip, type TipPlace } from './tooltip';

/** How sure the model was of each token, and which of them became decisions. */
export function ScatterPanel({ run, onRead }: { run: Shown; onRead(leaf: Segment): void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<ScatterView | null>(null);
  const [tip, setTip] = useState<(TipPlace & { hit: ScatterHit }) | null>(null);
  const read = useRef((_: Segment): void => undefined);
  read.current = (segment) => onRead(leafBelow(segment, run.tree.winner));
  useChanges(run.changes, 300);

  useEffect(() => {
    const made = new ScatterView(
      canvas.current!,
      run.tree,
      (hit, x, y) => setTip(hit === null ? null : { hit, x, y }),
      (segment) => read.current(segment),
    );
    view.current = made;
    const unsubscribe = run.changes.subscribe(() => made.setTree(run.tree));
    return () => {
      unsubscribe();
      made.destroy();
    };
  }, [run]);

  const decisions = [...run.tree.segments.values()].filter((segment) => segment.decision !== null);
  const branch = run.tree.opening?.branch;
  const counts = `${plural(run.tree.tokens, 'token')}, ${plural(decisions.length, 'decision')}`;
  return (
    <div class="scatter-panel">
      <p class="hint">
        One point for each token. To the right the model was less sure of it: many tokens could have followed (entropy,
        H). Upwards it was torn between a few (varentropy, VE).{' '}
        {branch?.enabled === true
          ? 'A branch splits where varentropy is high while entropy is still low: there are a few good ways to go on.'
          : 'This method does not split branches.'}
      </p>
      <div class="canvas-box">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Entropy against varentropy of ${counts}. The table that follows has the decisions.`}
        />
        {tip !== null && (
          <Tooltip place={tip}>
            <TokenTip hit={tip.hit} />
          </Tooltip>
        )}
      </div>
      {decisions.length > 0 && (
        <div class="table-box decisions" tabIndex={0} role="region" aria-label="Decisions">
          <table>
            <thead>
              <tr>
                <th scope="col">Branch</th>
                <th scope="col" class="number">
                  At token
                </th>
                <th scope="col" class="number">
                  Entropy, nats
                </th>
                <th scope="col" class="number">
                  Varentropy, nats²
                </th>
                <th scope="col" class="wide">
                  After the words
                </th>
                <th scope="col">Goes on with</th>
              </tr>
            </thead>
            <tbody>
              {decisions.map((segment) => (
                <tr key={segment.id}>
                  <th scope="row">{branchName(segment)}</th>
                  <td class="number">{formatCount(segment.decision!.position + 1)}</td>
                  <td class="number">{formatNats(segment.decision!.entropy)}</td>
                  <td class="number">{formatNats(segment.decision!.varentropy)}</td>
                  <td class="tail">…{textTail(segment, 32)}</td>
                  <td class="choices">
                    {segment.children.map((child) => (
                      <button type="button" class="alternative" key={child.id} onClick={() => read.current(child)}>
                        <Choice segment={child} />
                      </button>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function TokenTip({ hit: { segment, token, isDecision } }: { hit: ScatterHit }) {
  const [before, piece, after] = tokenContext(segment, token);
  return (
    <>
      <strong>
        {isDecision ? 'Decision' : 'Token'} {formatCount(segment.start + token + 1)}, branch {branchName(segment)}
      </strong>
      <span class="tip-figures">
        entropy {formatNats(segment.entropy.at(token))} · varentropy {formatNats(segment.varentropy.at(token))} · taken
        with {formatProbability(segment.logprob.at(token))}
      </span>
      <span class="tip-text">
        …{before}
        <mark>{piece === '' ? visibleToken(piece) : piece}</mark>
        {after}
      </span>
    </>
  );
}
