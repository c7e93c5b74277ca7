// `dts serve` as a program: how it starts, and how it ends.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { metric, startServer } from './server.mjs';

const program = process.env.DTS_PROGRAM;
// Seconds of work for the built-in model.
const much = {
  messages: [{ role: 'user', content: 'What is 7 + 3 * 4?' }],
  n: 8,
  dts: { method: 'self-consistency', votes: 48 },
};

/** What a start that should fail says, and its exit code. */
async function refusal(...options) {
  const child = spawn(program, ['serve', '--port', '0', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data) => (said += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return `${code} ${said}`;
}

function ask(url, body) {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Resolves once the server works on something. */
async function busy(url) {
  while ((await metric(url, 'dts_branches_live')) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('another address than loopback needs a key, or the will to do without', async () => {
  assert.match(await refusal('--host', '0.0.0.0'), /^2 dts: --host is 0\.0\.0\.0.*--unprotected/);
  assert.match(await refusal('--host', 'example.org'), /^2 dts: --host is 'example\.org'/);
});

test('options that cannot be are refused before the model is read', async () => {
  assert.match(await refusal('-np', '4', '--max-branches', '8'), /^2 dts: dts-stable may have 8 branches/);
  assert.match(await refusal('--port', '70000'), /^2 dts: --port is 70000/);
  assert.match(await refusal('--api-key-file', '/nonexistent'), /^1 dts: \/nonexistent/);
});

test('a port that is taken', async () => {
  const first = await startServer(program);
  try {
    assert.match(await refusal('--port', new URL(first.url).port), /^1 dts: --host 127\.0\.0\.1 --port \d+: cannot listen/);
  } finally {
    await first.stop();
  }
});

test('keys from a file, a name for the model, and a default method', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'dts-keys-')), 'keys');
  writeFileSync(file, 'one\r\n\ntwo\n');
  const server = await startServer(program, ['--api-key-file', file, '-a', 'mine', '--method', 'standard', '-np', '8']);
  try {
    for (const [key, status] of [['one', 200], ['two', 200], ['three', 401], ['', 401]]) {
      const response = await fetch(`${server.url}/v1/models`, { headers: { Authorization: `Bearer ${key}` } });
      assert.equal(response.status, status, key);
      if (status !== 200) continue;
      const { data } = await response.json();
      assert.equal(data[0].id, 'mine');
      assert.equal(data[0].dts.defaults.method, 'standard');
      assert.equal(data[0].dts.defaults.max_branches, 8);
    }
  } finally {
    await server.stop();
  }
});

test('what does not finish in time is cancelled, and its client told', async () => {
  const server = await startServer(program, ['--shutdown-seconds', '0']);
  const reply = ask(server.url, much);
  await busy(server.url);
  const code = server.stop();
  assert.ok([200, 503].includes((await reply).status));
  assert.equal(await code, 0);
});

test('a second signal quits at once', async () => {
  const server = await startServer(program, ['--shutdown-seconds', '1000']);
  const reply = ask(server.url, { ...much, stream: true }).then((response) => response.text());
  const broken = assert.rejects(reply);
  await busy(server.url);
  server.stop('SIGINT');
  while (!server.log().includes('shutting down')) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await server.stop('SIGINT'), 130);
  await broken;
});

test('a log that nobody reads holds nobody up', async () => {
  // The child's standard error is a pipe, which is full long before as many lines.
  const requests = 12_000;
  const child = spawn(program, ['serve', '--port', '0', '--threads', '1'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  try {
    const port = await new Promise((resolve) => {
      let printed = '';
      child.stdout.on('data', (data) => {
        printed += data;
        const match = /127\.0\.0\.1:(\d+)/.exec(printed);
        if (match !== null) resolve(Number(match[1]));
      });
    });
    const socket = net.connect(port, '127.0.0.1');
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(requests));
    let answered = 0;
    for await (const data of socket.setEncoding('latin1')) {
      answered += data.split('{"status":"ok"}').length - 1;
      if (answered >= requests - 100) break; // some are cut between two reads
    }
    assert.equal((await ask(`http://127.0.0.1:${port}`, { ...much, n: 1, max_tokens: 3, dts: { method: 'standard' } })).status, 200);
    let log = '';
    for await (const data of child.stderr.setEncoding('utf8')) {
      log += data;
      if (/ warning \d+ lines of the log were dropped: nobody read them\n/.test(log)) break;
    }
    assert.match(log, / lines of the log were dropped/);
  } finally {
    child.kill('SIGTERM');
    assert.equal(await ended, 0);
  }
});

test('few file descriptors: half-sent requests and idle connections keep nobody out', async () => {
  const child = spawn('sh', ['-c', 'ulimit -n 40 && exec "$0" serve --port 0 --threads 1', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  let log = '';
  child.stderr.on('data', (data) => (log += data));
  const sockets = [];
  try {
    const port = await new Promise((resolve) => {
      let printed = '';
      child.stdout.on('data', (data) => {
        printed += data;
        const match = /127\.0\.0\.1:(\d+)/.exec(printed);
        if (match !== null) resolve(Number(match[1]));
      });
    });
    const url = `http://127.0.0.1:${port}`;
    const asked = { ...much, n: 1, max_tokens: 3, dts: { method: 'standard' } };
    for (const begun of ['', 'GET /health HTTP/1.1\r\n', 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{']) {
      for (let i = 0; i < 100; ++i) {
        const socket = net.connect(port, '127.0.0.1').on('error', () => {});
        if (begun !== '') socket.write(begun);
        sockets.push(socket);
      }
      // Each over a connection of its own.
      for (let i = 0; i < 3; ++i) {
        const reply = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Connection: 'close' },
          body: JSON.stringify(asked),
          signal: AbortSignal.timeout(8000), // less than a half-sent request is waited for
        });
        assert.equal(reply.status, 200, await reply.text());
      }
    }
    assert.ok(log.split('cannot accept').length < 20, 'one line, not one for every try');
  } finally {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGTERM');
    assert.equal(await ended, 0, log);
  }
});
