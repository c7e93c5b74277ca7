import { useRef, useState } from 'preact/hooks';
import type { Run } from '../app/run';
import type { Session } from '../app/session';
import type { Json } from '../model/json';
import { Announcer } from './announcer';
import { AskForm } from './ask_form';
import { HistoryList } from './history_list';
import { useChanges } from './hooks';
import { KeyDialog } from './key_dialog';
import { RunView } from './run_view';
import { saveFile } from './save_file';

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
          {run === null ? (
            <Welcome />
          ) : (
            <RunView
              key={run.serial}
              run={run}
              name={run.id ?? 'tree'}
              onSaveJson={run.id === null ? null : () => void saveJson(session, run)}
            />
          )}
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
