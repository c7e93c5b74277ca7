import { useEffect, useRef } from 'preact/hooks';
import type { Run } from '../app/run';
import { TreeView } from '../draw/tree_view';
import { plural } from '../draw/words';
import { useChanges } from './hooks';
import { Outcome } from './result';
import { LaneLegend } from './tree_panel';

interface Props {
  runs: Run[];
  onOpen(run: Run): void;
}

/** Several runs side by side: one question to several methods, several questions, or both. */
export function Lanes({ runs, onOpen }: Props) {
  const questions = [...new Set(runs.map(({ facts }) => facts.question))]; // long ones may be cut until events come
  return (
    <div class="lanes-page">
      {questions.map((question) => {
        const lanes = runs.filter(({ facts }) => facts.question === question);
        return (
          <section key={question} class="lane-group" aria-label={question}>
            <LaneQuestion run={lanes[0]!} />
            <div class="lanes">
              {lanes.map((run) => (
                <LaneCard key={run.serial} run={run} onOpen={() => onOpen(run)} />
              ))}
            </div>
          </section>
        );
      })}
    </div>
  );
}

function LaneQuestion({ run }: { run: Run }) {
  useChanges(run.changes, 120);
  return <h2 class="question whole">{run.question}</h2>;
}

function LaneCard({ run, onOpen }: { run: Run; onOpen(): void }) {
  useChanges(run.changes, 120);
  return (
    <article class="lane" aria-label={run.method}>
      <header class="lane-head">
        <h3>{run.method}</h3>
        {run.active && !run.cancelling && (
          <button type="button" class="quiet" onClick={() => void run.cancel()}>
            Cancel
          </button>
        )}
        <button type="button" onClick={onOpen} aria-label={`Open ${run.method} in full`}>
          Open
        </button>
      </header>
      {run.error !== null && (
        <p class="error" role="alert">
          {run.error}
        </p>
      )}
      {!run.refused && (
        <>
          <Outcome run={run} lane />
          <LaneTree run={run} onOpen={onOpen} />
          <LaneLegend run={run} />
        </>
      )}
    </article>
  );
}

/** The drawing without its tools: pressed, the run opens in full. */
function LaneTree({ run, onOpen }: { run: Run; onOpen(): void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const view = new TreeView(canvas.current!, run.tree, run.colours, {
      onPoint: () => undefined,
      onChoose: onOpen,
      onPainted: () => undefined,
      onFollow: () => undefined,
    });
    const refresh = () => {
      view.setTree(run.tree);
      view.invalidate();
    };
    const unsubscribe = run.changes.subscribe(refresh);
    refresh();
    return () => {
      unsubscribe();
      view.destroy();
    };
  }, [run]);
  const { tree } = run;
  const words = `Tree of ${plural(tree.leaves().length, 'branch', 'branches')}, ${tree.finishedLeaves.length} finished`;
  return (
    <div class="canvas-box lane-tree">
      <canvas ref={canvas} role="img" aria-label={words} />
    </div>
  );
}
