// An unmodified client of OpenAI's API, against the program with its built-in model.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { metric, startServer } from './server.mjs';

const model = 'dts-nano';
const question = 'Mara has 87 plates. Nora has 26 fewer plates than Mara. How many plates do they have together?';
const messages = [{ role: 'user', content: question }];

let server;
let client;

before(async () => {
  server = await startServer(process.env.DTS_PROGRAM, ['--max-queue', '6', '--limit-messages', '8']);
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'unused', maxRetries: 0 });
});

after(async () => {
  assert.equal(await server.stop(), 0, 'SIGTERM ends it as it should');
});

/** Resolves once nothing runs any more. */
async function quiet() {
  while ((await metric(server.url, 'dts_runs_active')) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail('it should have been refused');
}

test('a chat', async () => {
  const reply = await client.chat.completions.create({ model, messages, seed: 1 });
  assert.equal(reply.object, 'chat.completion');
  const [choice] = reply.choices;
  assert.equal(choice.message.role, 'assistant');
  assert.match(choice.message.content, /\\boxed\{148\}/);
  assert.match(choice.message.reasoning_content, /87 - 26 = 61/);
  assert.doesNotMatch(choice.message.content + choice.message.reasoning_content, /think>/);
  assert.equal(choice.finish_reason, 'stop');
  assert.equal(choice.dts.answer, '148');
  assert.ok(choice.dts.branches > 1 && choice.dts.votes[0].votes >= 8);
  assert.equal(reply.usage.completion_tokens, choice.dts.unique_tokens);
  assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens + reply.usage.completion_tokens);
  assert.ok(reply.usage.completion_tokens_details.reasoning_tokens < reply.usage.completion_tokens);
  assert.equal(reply._request_id, reply.id);
});

test('the same seed gives the same answer, another way to say it included', async () => {
  const ask = (content) => client.chat.completions.create({ model, messages: [{ role: 'user', content }], seed: 3 });
  const plain = await ask(question);
  const parts = await ask([{ type: 'text', text: question.slice(0, 20) }, { type: 'text', text: question.slice(20) }]);
  assert.deepEqual(parts.choices[0].message, plain.choices[0].message);
});

test('a stream is the same text, committed token by token', async () => {
  const request = { model, messages, seed: 1 };
  const whole = await client.chat.completions.create(request);
  const stream = await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  let reasoning = '';
  let usage;
  let finish;
  let progress = 0;
  let pieces = 0;
  for await (const chunk of stream) {
    assert.equal(chunk.object, 'chat.completion.chunk');
    usage = chunk.usage ?? usage;
    const choice = chunk.choices[0];
    if (choice === undefined) continue;
    content += choice.delta.content ?? '';
    reasoning += choice.delta.reasoning_content ?? '';
    finish = choice.finish_reason ?? finish;
    if (choice.dts !== undefined && choice.dts.state !== 'done') progress += 1;
    if (choice.delta.reasoning_content && finish === undefined) pieces += 1;
  }
  assert.equal(content, whole.choices[0].message.content);
  assert.equal(reasoning, whole.choices[0].message.reasoning_content);
  assert.equal(whole.usage.prompt_tokens_details.cached_tokens < usage.prompt_tokens, true);
  assert.equal(usage.prompt_tokens_details.cached_tokens, usage.prompt_tokens - 1, 'the prompt was asked before');
  assert.deepEqual({ ...usage, prompt_tokens_details: 0 }, { ...whole.usage, prompt_tokens_details: 0 });
  assert.equal(finish, 'stop');
  assert.ok(progress >= 1, 'it tells how far it is');
  assert.ok(pieces >= 1, 'what is certain comes before the end');  // on a fast machine in few pieces
});

test("the client's own accumulation of a stream", async () => {
  const runner = client.chat.completions.stream({ model, messages, seed: 1, n: 2 });
  const heard = [];
  runner.on('content', (delta) => heard.push(delta));
  const final = await runner.finalChatCompletion();
  assert.equal(final.choices.length, 2);
  assert.match(final.choices[0].message.content, /148/);
  assert.ok(heard.length > 0);
  assert.equal(final.choices[0].dts.state, 'done');
});

test('n choices, each what its seed alone gives', async () => {
  const both = await client.chat.completions.create({ model: `${model}:standard`, messages, seed: 40, n: 3 });
  assert.deepEqual(both.choices.map((choice) => choice.index), [0, 1, 2]);
  const last = await client.chat.completions.create({ model: `${model}:standard`, messages, seed: 42 });
  assert.deepEqual(both.choices[2].message, last.choices[0].message);
});

test('log-probabilities', async () => {
  const reply = await client.chat.completions.create({ model, messages, seed: 1, logprobs: true, top_logprobs: 3 });
  const { content } = reply.choices[0].logprobs;
  assert.equal(content.map((entry) => entry.token).join(''), reply.choices[0].message.content);
  for (const entry of content) {
    assert.ok(entry.logprob <= 0);
    assert.equal(entry.top_logprobs.length, 3);
    assert.ok(entry.top_logprobs[0].logprob >= entry.top_logprobs[1].logprob);
    assert.equal(Buffer.from(entry.bytes).toString(), entry.token);
  }
});

test('stop strings end the content', async () => {
  const reply = await client.chat.completions.create({ model, messages, seed: 1, stop: ['\\boxed', 'nothing'] });
  assert.equal(reply.choices[0].message.content, 'The answer is ');
  assert.equal(reply.choices[0].finish_reason, 'stop');
});

test('a budget', async () => {
  const reply = await client.chat.completions.create({ model, messages, max_completion_tokens: 5 });
  assert.equal(reply.choices[0].finish_reason, 'length');
  assert.equal(reply.choices[0].dts.reason, 'nothing-live');
});

test('the method rides in the model or in dts', async () => {
  const named = await client.chat.completions.create({ model: `${model}:dts-greedy`, messages, seed: 2 });
  assert.equal(named.choices[0].dts.method, 'dts-greedy');
  const said = await client.chat.completions.create({
    model,
    messages,
    seed: 2,
    dts: { method: 'self-consistency', votes: 3, max_branches: 4 },
  });
  assert.equal(said.choices[0].dts.method, 'self-consistency');
  assert.equal(said.choices[0].dts.finished, 3);
});

test('texts', async () => {
  const prompt = `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`;
  const reply = await client.completions.create({ model, prompt, seed: 1, logprobs: 2, max_tokens: 300 });
  assert.equal(reply.object, 'text_completion');
  assert.match(reply.choices[0].text, /<think>[^]*<\/think>[^]*148/);
  assert.equal(reply.choices[0].logprobs.tokens.join(''), reply.choices[0].text);
  let text = '';
  for await (const chunk of await client.completions.create({ model, prompt, seed: 1, max_tokens: 300, stream: true })) {
    text += chunk.choices[0].text;
  }
  assert.equal(text, reply.choices[0].text);
});

test('models', async () => {
  const ids = [];
  for await (const entry of client.models.list()) ids.push(entry.id);
  assert.equal(ids[0], model);
  assert.ok(ids.includes(`${model}:dts-stable`));
  assert.equal((await client.models.retrieve(`${model}:dts-stable`)).id, `${model}:dts-stable`);
});

test('errors are the ones the client has classes for', async () => {
  const create = (fields) => failure(client.chat.completions.create({ model, messages, ...fields }));
  const wrong = await create({ temperature: 9 });
  assert.ok(wrong instanceof OpenAI.BadRequestError);
  assert.equal(wrong.param, 'temperature');
  assert.match(wrong.message, /from 0 to 2/);
  assert.ok((await create({ model: 'gpt-4o' })) instanceof OpenAI.NotFoundError);
  assert.equal((await create({ functions: [{ name: 'f' }] })).code, 'unsupported_parameter');
  assert.equal((await create({ tools: [{ type: 'web_search' }] })).param, 'tools[0].type');
  assert.equal((await create({ response_format: { type: 'xml' } })).param, 'response_format.type');
  assert.equal((await create({ grammar: 'root ::= (' })).param, 'grammar');
  assert.equal((await create({ tool_choice: 'required' })).param, 'tool_choice');
  const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }];
  assert.match((await create({ messages: image })).message, /image_url/);
  assert.equal((await create({ messages: Array(9).fill(messages[0]) })).status, 400);
  const long = [{ role: 'user', content: question.repeat(40) }];
  assert.equal((await create({ messages: long })).code, 'context_length_exceeded');
});

test('a client that gives up frees its branches', async () => {
  const slow = { model: `${model}:self-consistency`, messages, dts: { votes: 48 } };
  const abort = new AbortController();
  const whole = failure(client.chat.completions.create(slow, { signal: abort.signal }));
  const stream = await client.chat.completions.create({ ...slow, stream: true });
  abort.abort();
  assert.ok((await whole) instanceof OpenAI.APIUserAbortError);
  for await (const chunk of stream) {
    assert.ok(chunk.id);
    break; // leaves the stream
  }
  await quiet();
});

test('cancelling by the tree', async () => {
  const stream = await client.chat.completions.create({
    model: `${model}:self-consistency`,
    messages,
    dts: { votes: 48 },
    stream: true,
  });
  let id;
  let reason;
  try {
    for await (const chunk of stream) {
      if (id === undefined) {
        id = chunk.id;
        await fetch(`${server.url}/v1/trees/${id}`, { method: 'DELETE' });
      }
      reason = chunk.choices[0]?.dts?.reason ?? reason;
    }
  } catch (error) {
    reason = error.code;
  }
  assert.equal(reason, 'cancelled');
  await quiet();
  const tree = await (await fetch(`${server.url}/v1/trees/${id}`)).json();
  assert.equal(tree.reason, 'cancelled');
});

test('beyond the queue: 429, which the client knows how to retry', async () => {
  const slow = { model: `${model}:self-consistency`, messages, dts: { votes: 48 } };
  const many = Array.from({ length: 6 }, () => client.chat.completions.create({ ...slow, stream: true }));
  const streams = await Promise.all(many);
  const refused = await failure(client.chat.completions.create({ model, messages }));
  assert.ok(refused instanceof OpenAI.RateLimitError);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  for (const stream of streams) stream.controller.abort();
  const patient = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'unused', maxRetries: 5 });
  assert.ok((await patient.chat.completions.create({ model, messages })).id);
});

test('a key', async () => {
  const guarded = await startServer(process.env.DTS_PROGRAM, [], { DTS_API_KEY: 'secret' });
  try {
    const at = { baseURL: `${guarded.url}/v1`, maxRetries: 0 };
    const stranger = new OpenAI({ ...at, apiKey: 'guess' });
    assert.ok((await failure(stranger.models.list())) instanceof OpenAI.AuthenticationError);
    const friend = new OpenAI({ ...at, apiKey: 'secret' });
    assert.ok((await friend.chat.completions.create({ model, messages })).id);
    assert.equal((await fetch(`${guarded.url}/health`)).status, 200);
    for (const path of ['/', '/metrics', '/v1/trees']) assert.equal((await fetch(guarded.url + path)).status, 401);
    assert.doesNotMatch(guarded.log(), /secret|plates/, 'logs have neither keys nor prompts');
  } finally {
    await guarded.stop();
  }
});

test('SIGTERM lets what runs finish', async () => {
  const ending = await startServer(process.env.DTS_PROGRAM);
  const other = new OpenAI({ baseURL: `${ending.url}/v1`, apiKey: 'unused', maxRetries: 0 });
  const stream = await other.chat.completions.create({ model, messages, seed: 1, stream: true });
  let content = '';
  let stopping;
  for await (const chunk of stream) {
    stopping ??= ending.stop();
    content += chunk.choices[0]?.delta.content ?? '';
  }
  assert.match(content, /148/);
  assert.equal(await stopping, 0);
});
