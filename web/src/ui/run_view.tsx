import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Replaying } from '../app/replaying';
import type { Shown } from '../app/shown';
import { treeFilm } from '../draw/film';
import { readTheme } from '../draw/theme';
import { treeSvg } from '../draw/tree_svg';
import { leafBelow, type Segment } from '../model/tree';
import { BranchTable } from './branch_table';
import { useChanges } from './hooks';
import { Reader } from './reader';
import { ReplayBar } from './replay_bar';
import { Result } from './result';
import { saveFile } from './save_file';
import { ScatterPanel } from './scatter_panel';
import { Tabs } from './tabs';
import { TreePanel } from './tree_panel';

interface Props {
  run: Shown;
  name: string; // of the files that are saved
  onSaveJson: (() => void) | null; // null: there is nothing to save yet
  details?: preact.ComponentChildren; // in a tab of their own
  children?: preact.ComponentChildren; // above the question
}

type Tab = 'tree' | 'branches' | 'uncertainty' | 'details';

const kTabs = { tree: 'Tree', branches: 'Branches', uncertainty: 'Uncertainty' };

/** One run: its result, its tree in several views, and the branch that is being read. */
export function RunView({ run, name, onSaveJson, details, children }: Props) {
  const [replay, setReplay] = useState<Replaying | null>(null);
  useChanges(run.changes, 300); // whether it is over
  useEffect(() => () => replay?.pause(), [replay]);
  const shown = replay ?? run;
  const start = () => {
    const made = new Replaying(run);
    setReplay(made);
    made.play();
  };
  const saveFilm = () => saveFile(`${name}-film.svg`, 'image/svg+xml', treeFilm(run, readTheme(), replay?.speed ?? 20));
  if (run.refused) return <Result run={run}>{children}</Result>;
  const over = !run.active && run.tree.segments.size > 0;
  return (
    <Views
      run={shown}
      name={name}
      details={details}
      head={children}
      bar={replay && <ReplayBar replay={replay} onSave={saveFilm} onClose={() => setReplay(null)} />}
      saves={
        <>
          {over && replay === null && (
            <button
              type="button"
              class="quiet"
              onClick={start}
              title="Play it again, from the first token to the last vote"
            >
              Replay
            </button>
          )}
          <button
            type="button"
            class="quiet"
            title="The tree with all its tokens and numbers, as a file"
            disabled={onSaveJson === null}
            onClick={() => onSaveJson?.()}
          >
            Save JSON
          </button>
          <button
            type="button"
            class="quiet"
            title="The drawing, as a file"
            onClick={() => saveFile(`${name}.svg`, 'image/svg+xml', treeSvg(shown.tree, readTheme(), shown.colours))}
          >
            Save SVG
          </button>
        </>
      }
    />
  );
}

interface ViewsProps {
  run: Shown;
  name: string;
  details: preact.ComponentChildren;
  head: preact.ComponentChildren;
  bar: preact.ComponentChildren;
  saves: preact.ComponentChildren;
}

function Views({ run, details, head, bar, saves }: ViewsProps) {
  const [tab, setTab] = useState<Tab>('tree');
  const [chosen, setChosen] = useState<Segment | null>(null);
  const [peeked, setPeeked] = useState<Segment | null>(null);
  const [other, setOther] = useState<Segment | null>(null);
  const peekTimer = useRef<ReturnType<typeof setTimeout>>();
  useChanges(run.changes, 120); // a replay's tree is another object when the time turns back
  const { tree } = run;
  useEffect(() => {
    setChosen(null);
    setPeeked(null);
    setOther(null);
  }, [tree]);
  const names = useMemo(() => (details === undefined ? kTabs : { ...kTabs, details: 'Details' }), [details]);

  const ours = (segment: Segment | null) =>
    segment !== null && tree.segments.get(segment.id) === segment ? segment : null;
  const likely = tree.best ?? tree.roots[0];
  const automatic = likely === undefined ? null : leafBelow(likely, tree.winner);
  const kept = ours(chosen);
  const current = kept === null || kept.children.length === 0 ? kept : leafBelow(kept, tree.winner);
  const pinned = current ?? automatic;
  const compared = ours(other);
  const leaf = compared === null ? (ours(peeked) ?? pinned) : pinned;
  const peek = (segment: Segment | null) => {
    clearTimeout(peekTimer.current);
    peekTimer.current = setTimeout(() => setPeeked(segment), segment === null ? 0 : 90);
  };
  const read = (segment: Segment) => {
    setPeeked(null);
    setChosen(segment);
    if (segment === other) setOther(null);
  };
  const compare = (segment: Segment | null) => {
    if (chosen === null) setChosen(pinned);
    setOther(segment === pinned ? null : segment);
  };
  const shared = { run, leaf: pinned, other: compared, onRead: read, onCompare: compare };
  return (
    <div class="run">
      <div class="work">
        <Result run={run}>{head}</Result>
        {bar}
        <Tabs<Tab> label="Views" names={names} current={tab} onChange={setTab} aside={<div class="saves">{saves}</div>}>
          {tab === 'tree' && <TreePanel {...shared} leaf={leaf} onPeek={peek} />}
          {tab === 'branches' && <BranchTable {...shared} />}
          {tab === 'uncertainty' && <ScatterPanel run={run} onRead={read} />}
          {tab === 'details' && details}
        </Tabs>
      </div>
      <Reader {...shared} leaf={leaf} following={chosen === null && peeked === null} />
    </div>
  );
}
