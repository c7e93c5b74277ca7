/** Follows one tree's events to their end, through lost connections. */
import { readEvent, type TreeEvent } from '../model/events';
import { parseJson } from '../model/json';
import { ApiError, type Api } from './api';
import { serverEvents } from './sse';

export interface Follower {
  lastEventId(): number;
  onEvents(events: { id: number; event: TreeEvent }[]): void;
  /** The connection is lost; another attempt follows. Or it is there again. */
  onConnection(state: 'lost' | 'back'): void;
}

const kFirstWaitMs = 500;
const kLongestWaitMs = 8000;
const kSilenceMs = 45000; // the server sends a comment well before

/** Waits, or less when the browser comes back online. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}

/** Aborts `attempt` when nothing was read for a while: a connection can die without a word. */
function watchdog(attempt: AbortController): { fed(): void; stop(): void } {
  let timer = setTimeout(() => attempt.abort(), kSilenceMs);
  return {
    fed() {
      clearTimeout(timer);
      timer = setTimeout(() => attempt.abort(), kSilenceMs);
    },
    stop: () => clearTimeout(timer),
  };
}

/**
 * Returns after `done` was delivered, or once `signal` aborts. Throws ApiError when the server answers that it will not
 * tell these events: a 4xx other than "too busy".
 */
export async function followTree(api: Api, id: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let wait = kFirstWaitMs;
  let lost = false;
  while (!signal.aborted) {
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    signal.addEventListener('abort', abort);
    const guard = watchdog(attempt);
    try {
      const response = await api.events(id, follower.lastEventId(), attempt.signal);
      if (lost) follower.onConnection('back');
      lost = false;
      if (response.status === 204) return; // all of it was told before
      for await (const batch of serverEvents(response, () => guard.fed())) {
        wait = kFirstWaitMs;
        const events = batch.flatMap(({ id: text, type, data }) => {
          const event = readEvent(type, parseJson(data));
          return event === null ? [] : [{ id: Number(text), event }];
        });
        if (events.length > 0) follower.onEvents(events);
        if (events.some(({ event }) => event.type === 'done')) return;
      }
    } catch (error) {
      const refused = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
      if (refused) throw error;
    } finally {
      guard.stop();
      signal.removeEventListener('abort', abort);
    }
    if (signal.aborted) return;
    if (!lost) follower.onConnection('lost');
    lost = true;
    await pause(wait, signal);
    wait = Math.min(wait * 2, kLongestWaitMs);
  }
}
