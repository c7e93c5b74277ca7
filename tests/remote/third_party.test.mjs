// `dts` over servers that it was not written for: a small one of our own with its own ways, and `dts serve`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { startServer } from '../serve/server.mjs';
import { startPlainServer } from './plain_server.mjs';

const program = process.env.DTS_PROGRAM;

/** Runs dts to its end. */
async function dts(options, environment = {}) {
  const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } });
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (err += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, out, err };
}

/** A question's tree over `urls`. */
async function tree(urls, more = [], environment = {}) {
  const result = await dts(
    ['run', '--engine', 'openai', '--url', urls, '--raw', 'Count:', '--temp', '0', '-n', '24', '--json', ...more],
    environment,
  );
  assert.notEqual(result.out, '', result.err);
  return JSON.parse(result.out);
}

/** The tree without the ids of its tokens, which are given to texts as they come. */
const textOf = (saved) => JSON.stringify(saved.segments.map((segment) => ({ ...segment, tokens: segment.tokens.length })));

const branching = ['--tau-v', '0.1', '--max-branches', '6', '--votes', '4', '--candidates', '11'];

test('a tree over a plain server is the same however it sends its tokens', async () => {
  const expected = await startPlainServer();
  const first = await tree(expected.url, branching);
  assert.ok(expected.seen.length > 3, 'it branched');
  for (const ways of [{ chunk: 3 }, { logprobs: 'entries' }, { stream: false }, { chunk: 7, logprobs: 'entries' }]) {
    const server = await startPlainServer(ways);
    assert.equal(textOf(await tree(server.url, branching)), textOf(first), JSON.stringify(ways));
    await server.stop();
  }
  await expected.stop();
});

test('without log-probabilities, methods that need none work and the others say so at once', async () => {
  for (const ways of [{ logprobs: 'none' }, { logprobs: 'none', chunk: 5 }, { logprobs: 'none', stream: false }]) {
    const server = await startPlainServer(ways);
    const saved = await tree(server.url, ['--method', 'standard']);
    const { tokens } = server.complete('Count:', 24);
    const text = tokens.map((token) => token.text).join('');
    assert.equal(saved.segments.map((segment) => segment.text).join(''), text);
    const asked = () => server.seen.filter((one) => one.url === '/v1/completions').length;
    const before = asked();
    const refused = await dts(['run', '--engine', 'openai', '--url', server.url, '--raw', 'Count:', '-n', '9']);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /sends no log-probabilities/);
    assert.equal(asked(), before + 1, 'asked once');
    await server.stop();
  }
});

test('dts serve over a server sends no log-probability that it does not have', async () => {
  const plain = await startPlainServer();
  const server = await startServer(program, ['--engine', 'openai', '--url', plain.url]);
  const ask = async (path, body) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ max_tokens: 24, temperature: 0, dts: { method: 'standard' }, ...body }),
    });
    return response.json();
  };
  const { choices } = await ask('/v1/completions', { prompt: 'Count:', logprobs: 0 });
  const list = choices[0].logprobs.token_logprobs;
  const { tokens } = plain.complete('Count:', 24);
  assert.ok(list.length >= tokens.length);
  tokens.forEach((token, i) => assert.ok(Math.abs(list[i] - token.logprob) < 1e-3, JSON.stringify(list)));
  await server.stop();
  await plain.stop();
});

test('a key comes from the environment, and is nowhere else', async () => {
  const server = await startPlainServer({ key: 'sk-very-secret' });
  const saved = await tree(server.url, ['--api-key-env', 'PLAIN_KEY', ...branching], { PLAIN_KEY: 'sk-very-secret' });
  assert.ok(!JSON.stringify(saved).includes('very-secret'));
  const refused = await dts(['run', '--engine', 'openai', '--url', server.url, '--raw', 'x', '--api-key-env', 'PLAIN_KEY'], {
    PLAIN_KEY: 'sk-wrong',
  });
  assert.equal(refused.code, 1);
  assert.match(refused.err, /HTTP 401: no such key/);
  assert.ok(!refused.err.includes('sk-wrong'));
  await server.stop();
});

test('two addresses are one engine, also when one of them is gone', async () => {
  const one = await startPlainServer();
  const two = await startPlainServer();
  const expected = textOf(await tree(one.url, branching));
  assert.equal(textOf(await tree(`${one.url},${two.url}`, branching)), expected);
  await one.stop();
  assert.equal(textOf(await tree(`${one.url},${two.url}`, branching)), expected);
  await two.stop();
  const refused = await dts(['run', '--engine', 'openai', '--url', `${one.url},${two.url}`, '--raw', 'x']);
  assert.equal(refused.code, 1);
  assert.equal(refused.err.trim().split('\n').length, 1, refused.err);
});

test('dts serve is such a server, and says what it is', async () => {
  const server = await startServer(program);
  const said = await dts(['run', '--engine', 'vllm', '--url', server.url, 'x']);
  assert.equal(said.code, 2);
  assert.match(said.err, /--engine is vllm, but the server says that it is dts serve: openai goes with it/);
  const saved = await tree(server.url, ['--method', 'standard']);
  assert.ok(textOf(saved).length > 0);
  await server.stop();
});
