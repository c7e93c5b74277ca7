import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Api, ApiError } from '../src/net/api';
import { followTree, type Follower } from '../src/net/follow';
import { SseParser } from '../src/net/sse';

function parsed(chunks: string[]) {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

describe('event streams', () => {
  const stream =
    ': hello\r\n\r\nid: 7\nevent: grow\ndata: {"a":\ndata: 1}\n\nevent: empty\n\ndata:x\r\rid\ndata: y\n\ndata: unfinished\n';

  it('are read as the standard says', () => {
    expect(parsed([stream])).toEqual([
      { id: '7', type: 'grow', data: '{"a":\n1}' },
      { id: '7', type: 'message', data: 'x' },
      { id: '', type: 'message', data: 'y' },
    ]);
  });

  it('may come in pieces of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
        const ends = [...cuts, stream.length].sort((a, b) => a - b);
        const chunks = ends.map((end, i) => stream.slice(ends[i - 1] ?? 0, end));
        expect(parsed(chunks)).toEqual(parsed([stream]));
      }),
    );
  });
});

/** What the page has and Node has not. */
function pretendBrowser(): void {
  vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
}

describe('following a tree', () => {
  beforeEach(() => {
    pretendBrowser();
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  function follower() {
    const seen: number[] = [];
    const connection: string[] = [];
    const made: Follower = {
      lastEventId: () => seen.at(-1) ?? -1,
      onEvents: (events) => seen.push(...events.map(({ id }) => id)),
      onConnection: (state) => connection.push(state),
    };
    return { made, seen, connection };
  }
  const frame = (id: number, type: string, data = '{}') => `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;

  it('resumes after the last event it has, and ends with done', async () => {
    const asked: (string | undefined)[] = [];
    const replies = [
      () => new Response(frame(1, 'open') + frame(2, 'root', '{"segment":0}')),
      () => Promise.reject(new TypeError('refused')),
      () => new Response('busy', { status: 503 }),
      () => new Response(frame(3, 'weather') + frame(4, 'done')),
    ];
    vi.stubGlobal('fetch', (_: string, init: { headers: Record<string, string> }) => {
      asked.push(init.headers['Last-Event-ID']);
      return Promise.resolve(replies.shift()!());
    });
    const { made, seen, connection } = follower();
    const done = followTree(new Api(), 'x', made, new AbortController().signal);
    await vi.runAllTimersAsync();
    await done;
    expect(asked).toEqual([undefined, '2', '2', '2']);
    expect(seen).toEqual([1, 2, 4]);
    expect(connection).toEqual(['lost', 'back']);
  });

  it('takes comments for signs of life', async () => {
    let asked = 0;
    vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
      asked += 1;
      const encoder = new TextEncoder();
      const body = new ReadableStream({
        start(controller) {
          init.signal?.addEventListener('abort', () => controller.error(new DOMException('', 'AbortError')));
          let beats = 0;
          const timer = setInterval(() => {
            if (init.signal?.aborted === true) return clearInterval(timer);
            controller.enqueue(encoder.encode(++beats < 9 ? ':\n\n' : frame(1, 'done')));
            if (beats === 9) clearInterval(timer);
          }, 15000);
        },
      });
      return Promise.resolve(new Response(body));
    });
    const { made, seen, connection } = follower();
    const done = followTree(new Api(), 'x', made, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(9 * 15000 + 1);
    await done;
    expect(asked).toBe(1);
    expect(seen).toEqual([1]);
    expect(connection).toEqual([]);
  });

  it('gives up when the server does not have it any more', async () => {
    vi.stubGlobal('fetch', () =>
      Promise.resolve(new Response('{"error":{"message":"no such tree"}}', { status: 404 })),
    );
    const { made } = follower();
    await expect(followTree(new Api(), 'x', made, new AbortController().signal)).rejects.toMatchObject({ status: 404 });
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('refused')));
    const { made } = follower();
    const done = followTree(new Api(), 'x', made, stop.signal);
    await vi.advanceTimersByTimeAsync(5000);
    stop.abort();
    await done;
  });
});

describe('errors', () => {
  beforeEach(pretendBrowser);
  afterEach(() => void vi.unstubAllGlobals());

  const refusal = async (status: number, headers: Record<string, string> = {}) => {
    const body = '{"error":{"message":"votes is 0: it must be at least 1"}}';
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, { status, headers })));
    const error: unknown = await new Api().fetch('/v1/models').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    return (error as ApiError).message;
  };

  it('are told in words', async () => {
    expect(await refusal(400)).toBe('The server refuses the request: votes is 0: it must be at least 1');
    expect(await refusal(429, { 'Retry-After': '3' })).toBe(
      'The server is busy with other questions. Try again in 3 s.',
    );
    expect(await refusal(429)).toContain('in a moment');
    expect(await refusal(500)).toContain('failed');
  });

  it('ask for the key on 401', async () => {
    const api = new Api();
    const asked: boolean[] = [];
    api.onKeyNeeded = (hadKey) => asked.push(hadKey);
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('', { status: 401 })));
    await expect(api.fetch('/v1/models')).rejects.toBeInstanceOf(ApiError);
    expect(asked).toEqual([false]);
  });
});
