import { useEffect, useRef, useState } from 'preact/hooks';
import type { Run } from '../app/run';
import type { Session } from '../app/session';
import { readTheme } from '../draw/theme';
import { treeSvg } from '../draw/tree_svg';
import type { Json } from '../model/json';
import { leafBelow, type Segment } from '../model/tree';
import { Announcer } from './announcer';
import { AskForm } from './ask_form';
import { BranchTable } from './branch_table';
import { HistoryList } from './history_list';
import { useChanges } from './hooks';
import { KeyDialog } from './key_dialog';
import { Reader } from './reader';
import { Result } from './result';
import { saveFile } from './save_file';
import { ScatterPanel } from './scatter_panel';
import { Tabs } from './tabs';
import { TreePanel } from './tree_panel';

export function App({ session }: { session: Session }) {
  useChanges(session.changes);
  useChanges(session.run?.changes, 100);
  const main = useRef<HTMLElement>(null);
  const [suggested, setSuggested] = useState('');
  const { run } = session;
  const gone = session.server === 'gone';

  const ask = (question: string, body: Json) => {
    session.ask(question, body);
    showMain(main.current);
  };
  const open = (id: string) => {
    const opened = session.open(id);
    setSuggested(opened.question);
    showMain(main.current);
  };
  return (
    <div class="page">
      <header class="top">
        <h1>Decoding Tree Sketching</h1>
        <Server session={session} />
      </header>
      {gone && (
        <p class="banner" role="alert">
          The server cannot be reached. Trying again; what has arrived stays.
        </p>
      )}
      {!gone && session.models.length === 0 && session.serverError !== null && (
        <p class="banner" role="alert">
          {session.serverError}
        </p>
      )}
      <div class={`body ${run === null ? 'idle' : ''}`}>
        <aside class="rail" aria-label="Ask">
          <AskForm
            models={session.models}
            running={run?.active === true}
            cancelling={run?.cancelling === true}
            serverGone={gone}
            full={session.full}
            suggested={suggested}
            onAsk={ask}
            onCancel={() => void run?.cancel()}
          />
        </aside>
        <main ref={main} tabIndex={-1}>
          {run === null ? <Welcome /> : <RunView key={run.serial} run={run} session={session} />}
        </main>
        <HistoryList session={session} onOpen={open} />
      </div>
      <Announcer run={run} serverGone={gone} />
      {session.keyNeeded !== 'no' && (
        <KeyDialog
          key={session.keyNeeded}
          wrong={session.keyNeeded === 'wrong'}
          onKey={(key) => session.setKey(key)}
          onDismiss={() => session.dismissKey()}
        />
      )}
    </div>
  );
}

/** On a narrow screen the result is below the form. */
function showMain(main: HTMLElement | null): void {
  if (main === null || main.getBoundingClientRect().top < innerHeight * 0.6) return;
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  setTimeout(() => main.scrollIntoView({ behavior: still ? 'auto' : 'smooth', block: 'start' }));
}

function Server({ session }: { session: Session }) {
  const words = { looking: 'Looking for the server', there: 'Connected', gone: 'No server' }[session.server];
  const model = session.models[0]?.id;
  return (
    <p class={`server ${session.server}`}>
      <span class="lamp" aria-hidden="true" />
      {words}
      {session.server === 'there' && model !== undefined && <span class="hint">{model}</span>}
    </p>
  );
}

function Welcome() {
  return (
    <div class="welcome">
      <svg viewBox="0 0 320 140" aria-hidden="true" class="sketch">
        <path class="split" d="M10 70H80" />
        <path class="finished" d="M80 70C105 70 105 25 130 25H200" />
        <path class="split" d="M80 70H170" />
        <path class="exhausted" d="M80 70C105 70 105 115 130 115H235" />
        <path class="finished" d="M170 70C190 70 190 52 210 52H275" />
        <path class="live" d="M170 70C190 70 190 88 210 88H260" />
        <path class="mark" d="M80 63l7 7-7 7-7-7zM170 63l7 7-7 7-7-7z" />
      </svg>
      <h2>Watch a model think in parallel</h2>
      <p>
        Ask a question. The model writes until it meets a <em>decision token</em>: a place with a few good ways to go
        on. There the text branches, and the branches go on side by side. Those that finish first vote on the answer.
      </p>
    </div>
  );
}

type Tab = 'tree' | 'branches' | 'uncertainty';

function RunView({ run, session }: { run: Run; session: Session }) {
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

  const first = tree.roots[0];
  const automatic = tree.winner ?? (first === undefined ? null : leafBelow(first, null));
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
  const saveSvg = () => saveFile(`${run.id ?? 'tree'}.svg`, 'image/svg+xml', treeSvg(tree, readTheme()));
  const saveJson = async () => {
    try {
      saveFile(`${run.id}.json`, 'application/json', await (await session.api.fetch(`/v1/trees/${run.id}`)).text());
    } catch (error) {
      run.error = `The tree could not be saved. ${error instanceof Error ? error.message : ''}`;
      run.changes.notify();
    }
  };
  if (run.refused) return <Result run={run} />;
  const shared = { run, leaf: pinned, other, onRead: read, onCompare: compare };
  return (
    <div class="run">
      <div class="work">
        <Result run={run} />
        <Tabs<Tab>
          label="Views"
          names={{ tree: 'Tree', branches: 'Branches', uncertainty: 'Uncertainty' }}
          current={tab}
          onChange={setTab}
          aside={
            <div class="saves">
              <span class="hint">Save</span>
              <button
                type="button"
                class="quiet"
                aria-label="Save the tree as JSON"
                disabled={run.id === null}
                onClick={() => void saveJson()}
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
        </Tabs>
      </div>
      <Reader {...shared} leaf={leaf} following={chosen === null && peeked === null} />
    </div>
  );
}
