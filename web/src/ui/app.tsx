import { useRef, useState } from 'preact/hooks';
import { exampleLanes, exampleMethods } from '../app/asking';
import type { Example } from '../app/examples';
import type { Context } from '../app/history';
import type { Run } from '../app/run';
import type { Lane, Session } from '../app/session';
import { Announcer } from './announcer';
import { AskForm } from './ask_form';
import { Cards } from './cards';
import { Conversation } from './conversation';
import { HistoryList } from './history_list';
import { useChanges } from './hooks';
import { KeyDialog } from './key_dialog';
import { Lanes } from './lanes';
import { RunView } from './run_view';
import { saveFile } from './save_file';
import { ShareLink } from './share_link';

export function App({ session }: { session: Session }) {
  useChanges(session.changes);
  useChanges(session.run?.changes ?? session.lanes[0]?.changes, 100);
  const main = useRef<HTMLElement>(null);
  const [suggested, setSuggested] = useState('');
  const { run, lanes } = session;
  const gone = session.server === 'gone';
  const idle = lanes.length === 0;

  const ask = (asked: Lane[], context: Context) => {
    session.ask(asked, context, null);
    showMain(main.current);
  };
  const pick = (example: Example) => {
    const model = session.models[0];
    if (model === undefined) return;
    setSuggested(example.question);
    session.ask(exampleLanes(model, model.defaultMethod, example), { system: '', turns: [] }, example.answer);
    showMain(main.current);
  };
  const open = (ids: string[]) => {
    session.open(ids);
    setSuggested(session.lanes[0]?.question ?? '');
    showMain(main.current);
  };
  const cancelling = lanes.some((lane) => lane.cancelling && lane.active);
  return (
    <div class="page">
      <header class="top">
        <h1>
          {idle ? (
            'Decoding Tree Sketching'
          ) : (
            <button type="button" class="home" onClick={() => session.home()} title="Back to the examples">
              Decoding Tree Sketching
            </button>
          )}
        </h1>
        <Server session={session} />
        {!idle && lanes.every(({ id }) => id !== null) && <ShareLink />}
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
      <div class={`body ${idle ? 'idle' : ''}`}>
        <aside class="rail" aria-label="Ask">
          <AskForm
            models={session.models}
            running={session.active}
            cancelling={cancelling}
            serverGone={gone}
            suggested={suggested}
            conversation={conversationOf(run)}
            onAsk={ask}
            onCancel={() => lanes.forEach((lane) => void lane.cancel())}
          />
        </aside>
        <main ref={main} tabIndex={-1}>
          {idle ? (
            <Welcome session={session} onPick={pick} />
          ) : run === null ? (
            <Lanes runs={lanes} onOpen={(chosen) => session.show(chosen)} />
          ) : (
            <RunView
              key={run.serial}
              run={run}
              name={run.id ?? 'tree'}
              onSaveJson={run.id === null ? null : () => void saveJson(session, run)}
            >
              {lanes.length > 1 && (
                <button type="button" class="link back" onClick={() => session.show(null)}>
                  ← All {lanes.length} side by side
                </button>
              )}
              <Conversation system={run.facts.system} turns={run.facts.turns} />
            </RunView>
          )}
        </main>
        <HistoryList session={session} onOpen={open} />
      </div>
      <Announcer run={run ?? lanes.find((lane) => lane.active) ?? lanes.at(-1) ?? null} serverGone={gone} />
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

/** What a next question can follow on. */
function conversationOf(run: Run | null): Context | null {
  const reply = run?.reply ?? '';
  if (run === null || reply === '') return null;
  const { system, turns } = run.facts;
  return {
    system,
    turns: [...turns, { role: 'user', content: run.question }, { role: 'assistant', content: reply }],
  };
}

async function saveJson(session: Session, run: Run): Promise<void> {
  try {
    saveFile(`${run.id}.json`, 'application/json', await (await session.api.fetch(`/v1/trees/${run.id}`)).text());
  } catch (error) {
    run.error = `The tree could not be saved. ${error instanceof Error ? error.message : ''}`;
    run.changes.notify();
  }
}

/** On a narrow screen the result is below the form. */
function showMain(main: HTMLElement | null): void {
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  setTimeout(() => {
    if (main === null || Math.abs(main.getBoundingClientRect().top) < innerHeight * 0.3) return;
    main.scrollIntoView({ behavior: still ? 'auto' : 'smooth', block: 'start' });
  });
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

function Welcome({ session, onPick }: { session: Session; onPick(example: Example): void }) {
  const model = session.models[0];
  const both = model !== undefined && exampleMethods(model, model.defaultMethod).length > 1;
  return (
    <div class="welcome">
      <h2>One answer can be wrong. A tree of them votes.</h2>
      <p>
        The model writes until it meets a <em>decision token</em>: a place with a few good ways to go on. There the text
        branches, and the branches go on side by side. Those that finish first vote on the answer.
      </p>
      {model !== undefined && (
        <>
          <p>
            <strong>Press an example</strong>
            {both ? ': plain decoding and the tree answer it side by side.' : '.'}
          </p>
          <Cards examples={model.examples} both={both} disabled={session.server === 'gone'} onPick={onPick} />
        </>
      )}
    </div>
  );
}
