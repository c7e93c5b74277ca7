import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Run } from '../src/app/run';
import { Api } from '../src/net/api';

interface Line {
  path: string;
  after: string | undefined; // Last-Event-ID
  open: boolean;
  send(text: string): void;
  end(): void;
}

/** Answers every request with a stream that the test writes. */
function pretendServer(): Line[] {
  const lines: Line[] = [];
  vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  vi.stubGlobal('requestAnimationFrame', (call: () => void) => setTimeout(call));
  vi.stubGlobal('fetch', (path: string, init: RequestInit & { headers: Record<string, string> }) => {
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
    return Promise.resolve(new Response(body, { headers: { 'X-Request-Id': 'chatcmpl-1' } }));
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

  it('of this page holds one connection while it is not shown, and goes on when it is', async () => {
    const run = Run.start(new Api(), 'why', {}, () => undefined);
    await turn();
    expect(open()).toEqual(['/v1/chat/completions', '/v1/trees/chatcmpl-1/events']);
    lines[1]!.send(frame(1, 'open') + frame(2, 'root', '{"segment":0,"child":0}'));
    await turn();
    run.hide();
    await turn();
    expect(open()).toEqual(['/v1/chat/completions']);
    expect(run.active).toBe(true);
    run.show();
    run.show();
    await turn();
    expect(open()).toEqual(['/v1/chat/completions', '/v1/trees/chatcmpl-1/events']);
    expect(lines.at(-1)!.after).toBe('2');
    lines.at(-1)!.send(frame(3, 'done', '{"reason":"enough-finished","answer":"4"}'));
    lines[0]!.end();
    await turn();
    expect(run.phase).toBe('done');
    expect(run.tree.outcome?.answer).toBe('4');
    expect(open()).toEqual([]);
  });

  it('that ends while it is not shown tells how', async () => {
    const run = Run.start(new Api(), 'why', {}, () => undefined);
    await turn();
    run.hide();
    await turn();
    lines[0]!.end();
    await turn();
    expect(open()).toEqual(['/v1/trees/chatcmpl-1/events']);
    lines.at(-1)!.send(frame(1, 'open') + frame(2, 'done', '{"reason":"enough-finished","answer":"4"}'));
    await turn();
    expect(run.phase).toBe('done');
    expect(open()).toEqual([]);
  });

  it('of somebody else holds no connection while it is not shown', async () => {
    const run = Run.open(new Api(), 'chatcmpl-9', 'why');
    await turn();
    expect(open()).toEqual(['/v1/trees/chatcmpl-9/events']);
    run.hide();
    await turn();
    expect(open()).toEqual([]);
    run.show();
    await turn();
    expect(open()).toEqual(['/v1/trees/chatcmpl-9/events']);
    run.close();
  });
});
