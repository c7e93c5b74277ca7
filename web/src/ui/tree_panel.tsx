import { useEffect, useRef, useState } from 'preact/hooks';
import type { Shown } from '../app/shown';
import type { Hit } from '../draw/hit';
import { TreeView } from '../draw/tree_view';
import { branchName, formatNats, kStateWords, leafLength, plural } from '../draw/words';
import type { Measure } from '../layout/spans';
import { textTail, tokenContext } from '../model/branch_text';
import { leafBelow, type Segment, type Tree } from '../model/tree';
import { AnswerMark, answerColour } from './answer_mark';
import { Choice } from './choice';
import { useChanges } from './hooks';
import { StateMark, WinnerMark } from './state_mark';
import { Tooltip, type TipPlace } from './tooltip';
import { TreeNav } from './tree_nav';

interface Props {
  run: Shown;
  leaf: Segment | null;
  other: Segment | null;
  onRead(leaf: Segment): void;
  onCompare(leaf: Segment): void;
  onPeek(leaf: Segment | null): void;
}

const kStates = ['live', 'exhausted', 'retired', 'cut'] as const;

/** The drawing of the tree, its tools, its legend, and the way through it by keyboard. */
export function TreePanel({ run, leaf, other, onRead, onCompare, onPeek }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<TreeView | null>(null);
  const ring = useRef<HTMLDivElement>(null);
  const [tip, setTip] = useState<(TipPlace & { hit: Hit }) | null>(null);
  const [following, setFollowing] = useState(true);
  const [measure, setMeasure] = useState<Measure>('tokens');
  const handlers = useRef({ onRead, onCompare, onPeek, run });
  handlers.current = { onRead, onCompare, onPeek, run };

  useEffect(() => {
    const choose = (segment: Segment, compare: boolean) => {
      const target = leafBelow(segment, handlers.current.run.tree.winner);
      if (compare) handlers.current.onCompare(target);
      else handlers.current.onRead(target);
    };
    const made = new TreeView(canvas.current!, run.tree, run.colours, {
      onPoint(hit, x, y) {
        setTip(hit === null ? null : { hit, x, y });
        handlers.current.onPeek(hit === null ? null : leafBelow(hit.segment, handlers.current.run.tree.winner));
      },
      onChoose: choose,
      onPainted(box) {
        const style = ring.current?.style;
        if (style === undefined) return;
        style.display = box === null ? 'none' : 'block';
        if (box === null) return;
        style.transform = `translate(${box.x - 6}px, ${box.y - 12}px)`;
        style.width = `${box.width + 12}px`;
      },
      onFollow: setFollowing,
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const refresh = () => {
      view.current?.setTree(run.tree);
      view.current?.invalidate();
    };
    refresh();
    return run.changes.subscribe(refresh);
  }, [run]);
  useEffect(() => view.current?.setPaths(leaf, other), [leaf, other]);
  useEffect(() => view.current?.setMeasure(measure), [measure]);

  return (
    <div class="tree-panel">
      <div class="toolbar" role="toolbar" aria-label="Drawing">
        <button type="button" onClick={() => view.current?.zoomBy(1.5)} aria-label="Zoom in" title="Zoom in (+)">
          +
        </button>
        <button type="button" onClick={() => view.current?.zoomBy(1 / 1.5)} aria-label="Zoom out" title="Zoom out (−)">
          −
        </button>
        <button type="button" onClick={() => view.current?.fit()} aria-pressed={following} title="Show all of it (0)">
          Fit
        </button>
        <button
          type="button"
          aria-pressed={measure === 'compact'}
          title="Draw long stretches shorter, so that decisions have room"
          onClick={() => setMeasure(measure === 'compact' ? 'tokens' : 'compact')}
        >
          Compact
        </button>
      </div>
      <div class="canvas-box">
        <canvas ref={canvas} aria-hidden="true" />
        <div class="focus-ring" ref={ring} aria-hidden="true" />
        <TreeNav
          run={run}
          chosen={leaf}
          onMark={(segment) => {
            view.current?.setMarked(segment);
            if (segment !== null) view.current?.reveal(segment);
          }}
          onRead={(segment) => onRead(leafBelow(segment, run.tree.winner))}
          onCompare={(segment) => onCompare(leafBelow(segment, run.tree.winner))}
          onZoom={(factor) => (factor === 0 ? view.current?.fit() : view.current?.zoomBy(factor))}
        />
        {tip !== null && (
          <Tooltip place={tip}>
            <SegmentTip hit={tip.hit} />
          </Tooltip>
        )}
      </div>
      <Legend run={run} />
    </div>
  );
}

/** What the marks in the drawing mean: only those that are there. */
function MarkMeanings({ tree }: { tree: Tree }) {
  return (
    <>
      {tree.count('split') > 0 && (
        <li title="A token with a few good alternatives: the text branches there">
          <StateMark state="split" /> decision
        </li>
      )}
      {kStates
        .filter((state) => tree.count(state) > 0)
        .map((state) => (
          <li key={state}>
            <StateMark state={state} /> {kStateWords[state]}
          </li>
        ))}
    </>
  );
}

/** In a lane the answers stand above the drawing already. */
export function LaneLegend({ run }: { run: Shown }) {
  useChanges(run.changes, 300);
  return (
    <ul class="legend" aria-label="Legend">
      <MarkMeanings tree={run.tree} />
      {run.tree.winner !== null && (
        <li>
          <WinnerMark /> winner
        </li>
      )}
    </ul>
  );
}

/** The answers there are, and only those states that some branch is in. */
function Legend({ run }: { run: Shown }) {
  useChanges(run.changes, 300);
  const { tree } = run;
  return (
    <ul class="legend" aria-label="Legend">
      {tree.votes.slice(0, 8).map(({ answer }) => (
        <li key={answer}>
          <AnswerMark colour={answerColour(run, answer)} />
          <span class="legend-answer">{answer}</span>
        </li>
      ))}
      {tree.winner !== null && (
        <li>
          <WinnerMark /> winner
        </li>
      )}
      <MarkMeanings tree={tree} />
      <li title="Entropy: how unsure the model was of the next token">
        <span class="hill" aria-hidden="true" /> unsure (entropy)
      </li>
      <li title="At a decision: H is entropy, how unsure the model was; VE is varentropy, how unevenly">
        H entropy, VE varentropy
      </li>
    </ul>
  );
}

function SegmentTip({ hit: { segment, token } }: { hit: Hit }) {
  const atDecision = !segment.isLeaf && token >= segment.length - 1;
  if (atDecision && segment.decision !== null) {
    return (
      <>
        <strong>Decision at token {segment.decision.position + 1}</strong>
        <span class="tip-figures">
          entropy {formatNats(segment.decision.entropy)} · varentropy {formatNats(segment.decision.varentropy)}
        </span>
        <span class="tip-text">…{textTail(segment, 60)}</span>
        <ul>
          {segment.children.map((child) => (
            <li key={child.id}>
              <Choice segment={child} />
            </li>
          ))}
        </ul>
      </>
    );
  }
  const [before, piece, after] = tokenContext(segment, token);
  return (
    <>
      <strong>
        Branch {branchName(segment)}, token {segment.start + token + 1}
      </strong>
      <span class="tip-figures">
        entropy {formatNats(segment.entropy.at(token))} · varentropy {formatNats(segment.varentropy.at(token))}
      </span>
      <span class="tip-text">
        …{before}
        <mark>{piece}</mark>
        {after}
      </span>
      {segment.isLeaf && (
        <span class="tip-figures">
          {kStateWords[segment.state]}
          {segment.ending?.answer ? `: ${segment.ending.answer}` : ''}, {plural(leafLength(segment), 'token')}
        </span>
      )}
    </>
  );
}
