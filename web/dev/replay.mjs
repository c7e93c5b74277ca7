#!/usr/bin/env node
/**
 * A stand-in for `dts serve`: answers every question with a tree that was saved before, in its own time.
 *
 *   dts run --example 1 --save-tree tree.json
 *   node dev/replay.mjs [--port 8080] [--steps-per-second 60] [--page DIRECTORY] [--key KEY] tree.json [tree.json ...]
 *
 * Without a file: a synthetic tree of 48 branches with 4,000 tokens each.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';
import { eventsOf } from './stream.mjs';
import { syntheticTree } from './synthetic.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '8080' },
    'steps-per-second': { type: 'string', default: '60' },
    page: { type: 'string' },
    key: { type: 'string', default: '' },
  },
});
const files = positionals.map((path) => JSON.parse(readFileSync(path, 'utf8')));
if (files.length === 0) files.push(syntheticTree());
const stepMs = 1000 / Number(values['steps-per-second']);
const contentTypes = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/** The runs so far: { id, tree, sent: events, done, listeners, timer }. */
const runs = new Map();

function start(question) {
  const tree = { ...files[runs.size % files.length], question };
  const id = `chatcmpl-${runs.size + 1}`;
  const run = { id, tree, created: Math.floor(Date.now() / 1000), sent: [], state: 'running', listeners: new Set() };
  runs.set(id, run);
  const events = eventsOf(tree, { id, stepsPerEvent: Math.max(1, Math.ceil(16 / stepMs)) });
  const began = performance.now();
  const tell = (type, data) => {
    const text = `id: ${run.sent.length + 1}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
    run.sent.push(text);
    for (const listener of run.listeners) listener(text);
    if (type === 'done') run.state = data.reason;
  };
  let next = events.next();
  const tick = () => {
    while (!next.done && performance.now() - began >= next.value.step * stepMs) {
      tell(next.value.type, next.value.data);
      next = events.next();
    }
    if (next.done) clearInterval(run.timer);
  };
  run.timer = setInterval(tick, 5);
  run.cancel = () => {
    clearInterval(run.timer);
    if (run.state !== 'running') return;
    tell('done', {
      reason: 'cancelled',
      answer: null,
      winner_leaf: null,
      best_leaf: null,
      votes: [],
      account: {},
      times: {},
    });
  };
  return run;
}

function sendJson(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(response, status, message) {
  sendJson(response, status, { error: { message, type: 'invalid_request_error' } });
}

/** Streams `run` from event `after` on. */
function stream(response, run, after) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Request-Id': run.id });
  const finish = () => {
    response.end();
    run.listeners.delete(listener);
  };
  const listener = (text) => {
    response.write(text);
    if (run.state !== 'running' || text.includes('event: done')) finish();
  };
  for (const text of run.sent.slice(after)) response.write(text);
  if (run.state !== 'running') return finish();
  run.listeners.add(listener);
  response.on('close', () => run.listeners.delete(listener));
}

const methods = JSON.parse(readFileSync(new URL('./methods.json', import.meta.url), 'utf8'));

async function route(request, response) {
  const path = new URL(request.url, 'http://replay').pathname;
  const of = /^\/v1\/trees\/([^/]+)(\/events|\/cancel)?$/.exec(path);
  if (path.startsWith('/v1/') && values.key !== '' && request.headers.authorization !== `Bearer ${values.key}`) {
    return refuse(response, 401, 'A key is needed.');
  }
  if (path === '/v1/models') {
    const data = [{ id: files[0].model, object: 'model', ...methods }];
    return sendJson(response, 200, { object: 'list', data });
  }
  if (path === '/health') return sendJson(response, 200, { status: 'ok' });
  if (path === '/v1/trees' && request.method === 'POST') {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id } = start(JSON.parse(body).messages.at(-1).content);
    return sendJson(response, 202, { id, object: 'tree', ids: [id] });
  }
  if (path === '/v1/trees') {
    const data = [...runs.values()].reverse().map(({ id, created, tree, state }) => ({
      id,
      created,
      model: tree.model,
      method: tree.method.name,
      question: tree.question,
      state,
      answer: tree.answer,
    }));
    return sendJson(response, 200, { data });
  }
  if (of !== null) {
    const run = runs.get(decodeURIComponent(of[1]));
    if (run === undefined) return refuse(response, 404, `There is no tree '${of[1]}'.`);
    if (request.method === 'DELETE' || of[2] === '/cancel') {
      run.cancel();
      return sendJson(response, 200, { id: run.id, cancelled: true });
    }
    if (of[2] === '/events') return stream(response, run, Number(request.headers['last-event-id'] ?? 0));
    return sendJson(response, 200, { ...run.tree, id: run.id });
  }
  if (values.page !== undefined) {
    const file = join(values.page, normalize(path === '/' ? '/index.html' : path));
    try {
      const bytes = readFileSync(file);
      const policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'";
      response.writeHead(200, {
        'Content-Type': contentTypes[extname(file)] ?? 'text/plain',
        'Content-Security-Policy': policy,
      });
      return response.end(bytes);
    } catch {
      // falls through to 404
    }
  }
  return refuse(response, 404, `There is nothing at ${path}.`);
}

createServer((request, response) => {
  route(request, response).catch((error) => refuse(response, 500, String(error)));
}).listen(Number(values.port), '127.0.0.1', function listening() {
  console.log(`replaying ${files.length} tree(s) on http://127.0.0.1:${this.address().port}`);
});
