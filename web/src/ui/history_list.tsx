import type { HistoryEntry, Session } from '../app/session';
import { useChanges } from './hooks';

function stateWord(state: string): string {
  const words: Record<string, string> = {
    running: 'running',
    'enough-finished': 'answered',
    'nothing-live': 'answered',
    'token-budget': 'budget spent',
    'time-budget': 'time up',
    cancelled: 'cancelled',
    failed: 'failed',
    lost: 'no longer on the server',
  };
  return words[state] ?? state;
}

/** The runs of this session, and those the server has had from others. */
export function HistoryList({ session, onOpen }: { session: Session; onOpen(id: string): void }) {
  useChanges(session.changes, 100);
  const { history, elsewhere } = session;
  return (
    <section class="history" aria-labelledby="history-title">
      <div class="history-head">
        <h2 id="history-title">Runs</h2>
        {history.length > 0 && (
          <button type="button" class="quiet" onClick={() => session.forget()}>
            Forget
          </button>
        )}
      </div>
      {history.length === 0 ? (
        <p class="hint">What you ask appears here until this tab is closed.</p>
      ) : (
        <Entries entries={history} current={session.run?.id ?? null} onOpen={onOpen} />
      )}
      {elsewhere.length > 0 && (
        <details onToggle={(event) => event.currentTarget.open && void session.listElsewhere()}>
          <summary>Others on this server ({elsewhere.length})</summary>
          <Entries entries={elsewhere} current={session.run?.id ?? null} onOpen={onOpen} />
        </details>
      )}
    </section>
  );
}

type Shown = Pick<HistoryEntry, 'id' | 'question' | 'method' | 'state' | 'answer' | 'created'>;

function Entries({ entries, current, onOpen }: { entries: Shown[]; current: string | null; onOpen(id: string): void }) {
  return (
    <ul class="entries">
      {entries.map(({ id, question, method, state, answer, created }) => (
        <li key={id}>
          <button type="button" aria-current={id === current ? 'true' : undefined} onClick={() => onOpen(id)}>
            <span class="entry-question">{question === '' ? id : question}</span>
            <span class="hint">
              {[answer === null ? stateWord(state) : `→ ${answer}`, method, timeOf(created)]
                .filter(Boolean)
                .join(' · ')}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function timeOf(created: number): string {
  if (!Number.isFinite(created)) return '';
  return new Date(created * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
