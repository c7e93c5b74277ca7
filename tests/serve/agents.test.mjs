// Agents and applications, each with its own unmodified client: tools, structured answers, conversations. The built-in
// model knows nothing of tools: what it must say is asked for with a schema, what it means by it is its own affair.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { z } from 'zod';
import { startServer } from './server.mjs';

const model = 'dts-nano:standard';
const question = 'Mara has 87 plates. Nora has 26 fewer plates than Mara. How many plates do they have together?';
const messages = [{ role: 'user', content: question }];
const size = z.object({ size: z.enum(['small', 'large']), sure: z.boolean() });
const parameters = {
  type: 'object',
  properties: { sure: { type: 'boolean' }, size: { enum: ['small', 'large'] } },
  required: ['sure', 'size'],
  additionalProperties: false,
};
const tools = [
  { type: 'function', function: { name: 'weigh', description: 'Weighs plates.', parameters } },
  { type: 'function', function: { name: 'count', parameters: { type: 'object', properties: {}, additionalProperties: false } } },
];

let server;
let openai;

before(async () => {
  server = await startServer(process.env.DTS_PROGRAM);
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'unused', maxRetries: 0 });
});

after(async () => {
  assert.equal(await server.stop(), 0, 'SIGTERM ends it as it should');
});

function checkSize(value) {
  assert.ok(['small', 'large'].includes(value.size), JSON.stringify(value));
  assert.equal(typeof value.sure, 'boolean');
}

test('openai: a call that is asked for, its result, and an answer', async () => {
  const choice = { type: 'function', function: { name: 'weigh' } };
  const request = { model, messages, tools, tool_choice: choice, seed: 1 };
  const reply = await openai.chat.completions.create(request);
  const { message, finish_reason } = reply.choices[0];
  assert.equal(finish_reason, 'tool_calls');
  assert.equal(message.content, null);
  assert.match(message.reasoning_content, /87 - 26 = 61/, 'the thinking is not constrained');
  const [call] = message.tool_calls;
  assert.equal(call.function.name, 'weigh');
  checkSize(JSON.parse(call.function.arguments));
  assert.match(reply.choices[0].dts.answer, /^weigh\(\{"size":/, 'it votes by the call');

  const stream = openai.chat.completions.stream({ ...request, stream: true });
  const [streamed] = (await stream.finalChatCompletion()).choices;
  assert.equal(streamed.finish_reason, 'tool_calls');
  assert.deepEqual(streamed.message.tool_calls[0].function.arguments, call.function.arguments);

  const next = await openai.chat.completions.create({
    model,
    messages: [...messages, message, { role: 'tool', tool_call_id: call.id, content: 'light' }, ...messages],
    tools,
    seed: 1,
  });
  assert.match(next.choices[0].message.content, /148/);
  assert.equal(next.choices[0].finish_reason, 'stop');
});

test('openai: a loop of an agent, until it answers', async () => {
  const plates = { mara: 87, nora: 61 };
  const lookUp = { type: 'function', function: { name: 'plates_of', parameters: { type: 'object', properties: { who: { enum: Object.keys(plates) } }, required: ['who'], additionalProperties: false } } };
  const talk = [...messages];
  const calls = [];
  for (let turn = 0; turn < 5; ++turn) {
    const tool_choice = turn < 2 ? 'required' : 'auto';
    const reply = await openai.chat.completions.create({ model, messages: [...talk, ...(turn > 0 ? messages : [])], tools: [lookUp, ...tools], tool_choice, parallel_tool_calls: false, seed: turn });
    const { message, finish_reason } = reply.choices[0];
    talk.push(message);
    if (message.tool_calls === undefined) {
      assert.equal(finish_reason, 'stop');
      assert.match(message.content, /148/);
      break;
    }
    assert.equal(finish_reason, 'tool_calls');
    for (const call of message.tool_calls) {
      calls.push(call.id);
      const { who } = JSON.parse(call.function.arguments);
      talk.push({ role: 'tool', tool_call_id: call.id, content: call.function.name === 'plates_of' ? String(plates[who]) : 'light' });
    }
  }
  assert.equal(talk.at(-1).role, 'assistant', 'it came to an answer');
  assert.equal(calls.length, 2);
  assert.equal(new Set(calls).size, 2, 'ids are told apart in a conversation');
});

test('a call that runs out of tokens is a call with the arguments so far', async () => {
  const long = { type: 'function', function: { name: 'note', parameters: { type: 'object', properties: { text: { type: 'string', minLength: 2000 } }, required: ['text'], additionalProperties: false } } };
  const request = { model, messages, tools: [long], tool_choice: 'required', seed: 1, max_tokens: 500 };
  const reply = await openai.chat.completions.create(request);
  const { message, finish_reason } = reply.choices[0];
  assert.equal(finish_reason, 'length');
  assert.equal(message.content, null);
  assert.equal(message.tool_calls.length, 1);
  assert.equal(message.tool_calls[0].function.name, 'note');
  assert.throws(() => JSON.parse(message.tool_calls[0].function.arguments));
  let streamed = '';
  let last;
  for await (const chunk of await openai.chat.completions.create({ ...request, stream: true })) {
    for (const call of chunk.choices[0].delta.tool_calls ?? []) streamed += call.function.arguments ?? '';
    assert.ok(!(chunk.choices[0].delta.content ?? '').includes('tool_call'), 'no markup in the text');
    last = chunk.choices[0].finish_reason ?? last;
  }
  assert.equal(streamed, message.tool_calls[0].function.arguments);
  assert.equal(last, 'length');

  const cut = await openai.chat.completions.create({ ...request, max_tokens: 5 });
  assert.equal(cut.choices[0].finish_reason, 'length');
  assert.equal(cut.choices[0].message.tool_calls, undefined, 'it was still thinking');

  const { function: note } = long;
  const response = await openai.responses.create({ model, input: question, tools: [{ type: 'function', ...note }], tool_choice: 'required', max_output_tokens: 500 });
  assert.equal(response.status, 'incomplete');
  assert.equal(response.incomplete_details.reason, 'max_output_tokens');
  assert.equal(response.output.find((item) => item.type === 'function_call').status, 'incomplete');
});

test('openai: branches that call a tool vote by the call', async () => {
  const reply = await openai.chat.completions.create({
    model: 'dts-nano:self-consistency',
    messages,
    tools,
    tool_choice: 'required',
    parallel_tool_calls: false,
    seed: 2,
    dts: { votes: 6 },
  });
  const { votes } = reply.choices[0].dts;
  assert.equal(votes.reduce((sum, vote) => sum + vote.votes, 0), 6);
  for (const vote of votes) assert.match(vote.answer, /^(weigh\(\{"size":"(small|large)","sure":(true|false)\}\)|count\(\{\}\))$/);
});

test('openai: structured answers', async () => {
  const format = (schema) => ({ type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } });
  for (const method of ['standard', 'dts-stable']) {
    const reply = await openai.chat.completions.create({
      model: `dts-nano:${method}`,
      messages,
      seed: 1,
      response_format: format(parameters),
    });
    checkSize(JSON.parse(reply.choices[0].message.content));
    assert.match(reply.choices[0].message.content, /^\s*\{\s*"sure"/, "in the schema's order");
    assert.ok(reply.choices[0].message.reasoning_content.length > 20);
  }
  const word = await openai.chat.completions.create({ model, messages, seed: 1, grammar: 'root ::= "yes" | "no"' });
  assert.match(word.choices[0].message.content, /^(yes|no)$/);
});

test('openai: penalties and biases change what is said', async () => {
  const ask = (fields) => openai.chat.completions.create({ model, messages, temperature: 0, ...fields });
  const said = (reply) => reply.choices[0].message.reasoning_content;
  const plain = said(await ask({}));
  assert.equal(said(await ask({ presence_penalty: 0, logit_bias: {} })), plain);
  const { tokens } = await (
    await fetch(`${server.url}/tokenize`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ content: ' 61' }),
    })
  ).json();
  assert.doesNotMatch(said(await ask({ logit_bias: { [tokens[0]]: -100 }, max_tokens: 60 })), / 61/);
  assert.notEqual(said(await ask({ repetition_penalty: 8, max_tokens: 60 })), plain);
});

test('openai: responses', async () => {
  const whole = await openai.responses.create({ model, input: question, seed: 1 });
  assert.match(whole.output_text, /148/);
  assert.equal(whole.status, 'completed');
  assert.ok(whole.usage.output_tokens > 10);
  let text = '';
  let last;
  for await (const event of await openai.responses.create({ model, input: messages, seed: 1, stream: true })) {
    if (event.type === 'response.output_text.delta') text += event.delta;
    last = event;
  }
  assert.equal(text, whole.output_text);
  assert.equal(last.type, 'response.completed');
  assert.equal(last.response.usage.input_tokens_details.cached_tokens, last.response.usage.input_tokens - 1);
  const called = await openai.responses.create({
    model,
    input: question,
    tools: [{ type: 'function', name: 'weigh', parameters, strict: true }],
    tool_choice: 'required',
    parallel_tool_calls: false,
  });
  const call = called.output.find((item) => item.type === 'function_call');
  checkSize(JSON.parse(call.arguments));
  const answered = await openai.responses.create({
    model,
    input: [{ role: 'user', content: question }, call, { type: 'function_call_output', call_id: call.call_id, output: 'light' }, { role: 'user', content: question }],
  });
  assert.match(answered.output_text, /\d/);
  await assert.rejects(openai.responses.create({ model, input: 'x', previous_response_id: 'resp_1' }), /keeps no conversations/);
});

test('langchain: chat, stream, bindTools, withStructuredOutput', async () => {
  const chat = new ChatOpenAI({
    model,
    apiKey: 'unused',
    maxRetries: 0,
    configuration: { baseURL: `${server.url}/v1` },
    modelKwargs: { seed: 1 },
  });
  const reply = await chat.invoke(question);
  assert.match(reply.content, /148/);
  let streamed = '';
  for await (const chunk of await chat.stream(question)) streamed += chunk.content;
  assert.equal(streamed, reply.content);

  const weigh = langchainTool(() => 'light', { name: 'weigh', description: 'Weighs plates.', schema: size });
  const bound = chat.bindTools([weigh], { tool_choice: 'weigh' });
  const called = await bound.invoke(question);
  assert.equal(called.tool_calls[0].name, 'weigh');
  checkSize(called.tool_calls[0].args);
  const result = new ToolMessage({ content: 'light', tool_call_id: called.tool_calls[0].id });
  const ended = await chat.bindTools([weigh]).invoke([new HumanMessage(question), called, result, new HumanMessage(question)]);
  assert.ok(ended instanceof AIMessage);
  assert.match(ended.content, /148/);

  for (const method of ['jsonSchema', 'functionCalling']) {
    checkSize(await chat.withStructuredOutput(size, { method, name: 'size' }).invoke(question));
  }
});

test('ai sdk: generateText, streamText, generateObject and a tool, over chats and responses', async () => {
  const provider = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'unused' });
  for (const language of [provider.chat(model), provider.responses(model)]) {
    const common = { model: language, prompt: question, maxRetries: 0, temperature: 0 };
    const { text, usage } = await generateText(common);
    assert.match(text, /boxed/);
    assert.ok(usage.totalTokens > 10);
    let streamed = '';
    for await (const piece of streamText(common).textStream) streamed += piece;
    assert.match(streamed, /boxed/);
    checkSize((await generateObject({ ...common, schema: size })).object);
    const called = [];
    const weigh = tool({ description: 'Weighs plates.', inputSchema: size, execute: (input) => called.push(input) && 'light' });
    // The model would call it again and again, until its context is full.
    const providerOptions = { openai: { parallelToolCalls: false } };
    await generateText({ ...common, tools: { weigh }, toolChoice: 'required', stopWhen: stepCountIs(1), providerOptions });
    assert.ok(called.length > 0);
    checkSize(called[0]);
  }
});

test('ollama: list, show, chat, generate, tools and formats', async () => {
  const ollama = new Ollama({ host: server.url });
  const { models } = await ollama.list();
  assert.ok(models.some((entry) => entry.name === model));
  assert.ok((await ollama.show({ model: 'dts-nano' })).capabilities.includes('tools'));
  assert.ok((await ollama.version()).version);
  const options = { seed: 1 };
  const whole = await ollama.chat({ model, messages, options });
  assert.match(whole.message.content, /148/);
  assert.match(whole.message.thinking, /61/);
  assert.equal(whole.done_reason, 'stop');
  let streamed = '';
  for await (const part of await ollama.chat({ model, messages, options, stream: true })) streamed += part.message.content;
  assert.equal(streamed, whole.message.content);
  const generated = await ollama.generate({ model, prompt: question, options });
  assert.equal(generated.response, whole.message.content);
  const formatted = await ollama.chat({ model: 'dts-nano:latest', messages, format: parameters, options, dts: { method: 'standard' } });
  checkSize(JSON.parse(formatted.message.content));
  assert.match((await ollama.chat({ model, messages, tools, options })).message.content, /148/);
  await assert.rejects(ollama.chat({ model: 'llama3', messages }), /no model of that name/);
});
