import { useEffect, useRef, useState } from 'preact/hooks';
import type { Shown } from '../app/shown';
import { readTheme } from '../draw/theme';
import { treeSvg } from '../draw/tree_svg';
import { leafBelow, type Segment } from '../model/tree';
import { BranchTable } from './branch_table';
import { Reader } from './reader';
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
}

type Tab = 'tree' | 'branches' | 'uncertainty' | 'details';

const kTabs = { tree: 'Tree', branches: 'Branches', uncertainty: 'Uncertainty' };

/** One run: its result, its tree in several views, and the branch that is being read. */
export function RunView({ run, name, onSaveJson, details }: Props) {
  const [tab, setTab] = useState<Tab>('tree');
  const [chosen, setChosen] = useState<Segment | null>(null);
  const [peeked, setPeeked] = useState<Segment | null>(null);
  const [other, setOther] = useState<Segment | null>(null);
  const peekTimer = useRef<ReturnType<typeof setTimeout>>();
  const { tree } = run;
  useEffect(() => {
    setChosen(null);
    setOther(null);
  }, [tree]);

  const likely = tree.best ?? tree.roots[0];
  const automatic = likely === undefined ? null : leafBelow(likely, tree.winner);
  const current = chosen === null || chosen.children.length === 0 ? chosen : leafBelow(chosen, tree.winner);
  const pinned = current ?? automatic;
  const leaf = other === null ? (peeked ?? pinned) : pinned;
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
  const saveSvg = () => saveFile(`${name}.svg`, 'image/svg+xml', treeSvg(tree, readTheme()));
  if (run.refused) return <Result run={run} />;
  const shared = { run, leaf: pinned, other, onRead: read, onCompare: compare };
  return (
    <div class="run">
      <div class="work">
        <Result run={run} />
        <Tabs<Tab>
          label="Views"
          names={details === undefined ? kTabs : { ...kTabs, details: 'Details' }}
          current={tab}
          onChange={setTab}
          aside={
            <div class="saves">
              <span class="hint">Save</span>
              <button
                type="button"
                class="quiet"
                aria-label="Save the tree as JSON"
                disabled={onSaveJson === null}
                onClick={() => onSaveJson?.()}
              >
                JSON
              </button>
              <button type="button" class="quiet" aria-label="Save the drawing as SVG" onClick={saveSvg}>
                SVG
              </button>
            </div>
          }
        >
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
