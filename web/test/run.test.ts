import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Run } from '../src/app/run';
import { AnswerColours } from '../src/draw/answer_colours';
import { Api } from '../src/net/api';

interface Line {
  path: string;
  after: string | undefined; // Last-Event-ID
  open: boolean;
  send(text: string): void;
  end(): void;
}

let asked: string[] = [];

/** Answers every request for events with a stream that the test writes. */
function pretendServer(): Line[] {
  asked = [];
  const lines: Line[] = [];
  vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
  vi.stubGlobal('document', { visibilityState: 'visible' });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  vi.stubGlobal('requestAnimationFrame', (call: () => void) => setTimeout(call));
  vi.stubGlobal('fetch', (path: string, init: RequestInit & { headers: Record<string, string> }) => {
    if (init.method !== undefined) asked.push(`${init.method} ${path}`);
    if (init.method === 'POST') return Promise.resolve(new Response('{"id":"chatcmpl-1"}', { status: 202 }));
    if (init.method === 'DELETE') return Promise.resolve(new Response('{}'));
    let cancelled = () => undefined as void;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const line: Line = {
          path,
          after: init.headers['Last-Event-ID'],
          open: true,
          send: (text) => controller.enqueue(new TextEncoder().encode(text)),
          end() {
            line.open = false;
            controller.close();
          },
        };
        init.signal?.addEventListener('abort', () => {
          if (!line.open) return;
          line.open = false;
          controller.error(new DOMException('', 'AbortError'));
        });
        lines.push(line);
        cancelled = () => void (line.open = false);
      },
      cancel: () => cancelled(),
    });
    return Promise.resolve(new Response(body));
  });
  return lines;
}

const frame = (id: number, type: string, data = '{}') => `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
const turn = () => new Promise((resolve) => setTimeout(resolve, 25));

describe('a run', () => {
  let lines: Line[];
  beforeEach(() => void (lines = pretendServer()));
  afterEach(() => void vi.unstubAllGlobals());
  const open = () => lines.filter((line) => line.open).map((line) => line.path);

  const facts = () => ({
    question: 'why',
    method: 'dts-stable',
    reference: null,
    colours: new AnswerColours(),
    coloursFrom: 'first' as const,
    system: '',
    turns: [],
  });

  it('holds a connection only while it is shown, and goes on where its events broke off', async () => {
    const run = Run.start(new Api(), facts(), {}, () => undefined);
    await turn();
    expect(asked).toEqual(['POST /v1/trees']);
    expect(open()).toEqual(['/v1/trees/chatcmpl-1/events']);
    lines[0]!.send(frame(1, 'open') + frame(2, 'root', '{"segment":0,"child":0}'));
    await turn();
    run.hide();
    await turn();
    expect(open()).toEqual([]);
    expect(run.active).toBe(true);
    run.show();
    run.show();
    await turn();
    expect(open()).toEqual(['/v1/trees/chatcmpl-1/events']);
    expect(lines.at(-1)!.after).toBe('2');
    lines.at(-1)!.send(frame(3, 'done', '{"reason":"enough-finished","answer":"4"}'));
    await turn();
    expect(run.phase).toBe('done');
    expect(run.tree.outcome?.answer).toBe('4');
    expect(open()).toEqual([]);
  });

  it('is not ended by a page that closes it, only by one that asks', async () => {
    const run = Run.start(new Api(), facts(), {}, () => undefined);
    await turn();
    run.close();
    await turn();
    expect(open()).toEqual([]);
    expect(asked).toEqual(['POST /v1/trees']);
    const other = Run.open(new Api(), 'chatcmpl-2', facts());
    await turn();
    void other.cancel();
    await turn();
    expect(asked).toEqual(['POST /v1/trees', 'DELETE /v1/trees/chatcmpl-2']);
    other.close();
  });

  it('that is one of many waits for a connection, and loses none', async () => {
    const runs = [1, 2, 3, 4, 5, 6].map((i) => Run.open(new Api(), `chatcmpl-${i}`, facts()));
    await turn();
    expect(open()).toHaveLength(4);
    runs[5]!.hide(); // it waited: nobody may wait for its place
    lines[0]!.send(frame(1, 'open') + frame(2, 'done', '{"reason":"enough-finished"}'));
    await turn();
    expect(runs[0]!.phase).toBe('done');
    expect(open()).toHaveLength(4);
    expect(open()).toContain('/v1/trees/chatcmpl-5/events');
    for (const run of runs) run.close();
    await turn();
    expect(open()).toEqual([]);
    const last = Run.open(new Api(), 'chatcmpl-7', facts());
    await turn();
    expect(open()).toEqual(['/v1/trees/chatcmpl-7/events']);
    last.close();
  });
});
