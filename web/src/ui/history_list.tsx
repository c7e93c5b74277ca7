import type { HistoryEntry, LaneEntry } from '../app/history';
import type { Session } from '../app/session';
import { useChanges } from './hooks';

function stateWord(state: string): string {
  const words: Record<string, string> = {
    running: 'running',
    queued: 'waiting',
    prefill: 'running',
    decoding: 'running',
    'enough-finished': 'answered',
    agreement: 'answered',
    'nothing-live': 'answered',
    'token-budget': 'budget spent',
    'time-budget': 'time up',
    cancelled: 'cancelled',
    failed: 'failed',
    lost: 'no longer on the server',
  };
  return words[state] ?? state;
}

/** What was asked from this browser, and what the server has had from others. */
export function HistoryList({ session, onOpen }: { session: Session; onOpen(ids: string[]): void }) {
  useChanges(session.changes, 100);
  const { history, elsewhere } = session;
  const current = session.lanes[0]?.id ?? null;
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
        <p class="hint">What you ask appears here. It goes on when you leave, and is found here again.</p>
      ) : (
        <Entries entries={history} current={current} onOpen={onOpen} />
      )}
      {elsewhere.length > 0 && (
        <details onToggle={(event) => event.currentTarget.open && void session.list()}>
          <summary>Others on this server ({elsewhere.length})</summary>
          <Entries
            entries={elsewhere.map((listing) => ({ created: listing.created, lanes: [listing] }))}
            current={current}
            onOpen={onOpen}
          />
        </details>
      )}
    </section>
  );
}

type Shown = Pick<HistoryEntry, 'created'> & { lanes: LaneEntry[] };

function Entries({
  entries,
  current,
  onOpen,
}: {
  entries: Shown[];
  current: string | null;
  onOpen(ids: string[]): void;
}) {
  return (
    <ul class="entries">
      {entries.map(({ lanes, created }) => {
        const questions = [...new Set(lanes.map(({ question }) => question))];
        const ids = lanes.map(({ id }) => id);
        return (
          <li key={ids[0]}>
            <button
              type="button"
              aria-current={current !== null && ids.includes(current) ? 'true' : undefined}
              onClick={() => onOpen(ids)}
            >
              <span class="entry-question">{questions[0] === '' ? ids[0] : questions[0]}</span>
              <span class="hint">
                {questions.length > 1 ? `and ${questions.length - 1} more · ` : ''}
                {lanes.map(resultOf).join(' · ')}
                {timeOf(created)}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function resultOf({ method, state, answer }: LaneEntry): string {
  return `${method} ${answer === null ? stateWord(state) : `→ ${answer}`}`.trim();
}

function timeOf(created: number): string {
  if (!Number.isFinite(created)) return '';
  return ` · ${new Date(created * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}`;
}
