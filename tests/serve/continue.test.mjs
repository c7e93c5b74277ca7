// The shapes of requests that Continue, the editor's assistant, sends through its OpenAI provider: chats that stream with
// their usage, an agent's tools, completions of code with their many stop strings, and the list of models.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startServer } from './server.mjs';

let server;
before(async () => (server = await startServer(process.env.DTS_PROGRAM)));
after(async () => assert.equal(await server.stop(), 0));

const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer unused', 'api-key': 'unused' };

async function events(path, body) {
  const reply = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  assert.match(text, /data: \[DONE\]\n\n$/);
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)));
}

test('a chat, with earlier turns and parts, that streams', async () => {
  const list = await events('/v1/chat/completions', {
    model: 'dts-nano:standard',
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: [{ type: 'text', text: 'What is 1 + 1?' }] },
      { role: 'assistant', content: '2' },
      { role: 'user', content: 'What is 7 + 3 * 4?' },
    ],
    max_tokens: 400,
    seed: 1,
    temperature: 0.5,
    top_p: 0.9,
    frequency_penalty: 0,
    presence_penalty: 0,
    stop: null,
    stream: true,
    stream_options: { include_usage: true },
  });
  const usage = list.at(-1);
  assert.deepEqual(usage.choices, []);
  assert.ok(usage.usage.total_tokens > usage.usage.prompt_tokens);
  assert.ok(list.some((event) => event.choices[0]?.delta.content));
  assert.ok(list.some((event) => event.choices[0]?.finish_reason));
});

test("an agent's turn: tools, an earlier call without content, and its result", async () => {
  const tools = [
    {
      type: 'function',
      function: {
        name: 'read_file',
        description: 'Use this tool if you need to view the contents of an existing file.',
        parameters: {
          type: 'object',
          required: ['filepath'],
          properties: { filepath: { type: 'string', description: 'The path of the file to read' } },
        },
      },
    },
  ];
  const call = { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"filepath":"a.txt"}' } };
  const list = await events('/v1/chat/completions', {
    model: 'dts-nano:standard',
    messages: [
      { role: 'user', content: 'What is in a.txt?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'seven plates', tool_call_id: 'call_1' },
    ],
    tools,
    parallel_tool_calls: false,
    max_tokens: 200,
    stream: true,
  });
  assert.ok(list.some((event) => event.choices[0]?.finish_reason));
});

test('a completion of code: a prompt with marks for what is before and after, and many stops', async () => {
  const list = await events('/v1/completions', {
    model: 'dts-nano:standard',
    prompt: '<|fim_prefix|>def add(a, b):\n    return <|fim_suffix|>\n<|fim_middle|>',
    max_tokens: 40,
    temperature: 0.01,
    stop: ['<|endoftext|>', '<|fim_prefix|>', '<|fim_middle|>', '<|fim_suffix|>', '<|fim_pad|>', '<|repo_name|>', '\n\n', '```'],
    stream: true,
  });
  assert.ok(list.some((event) => event.choices[0]?.finish_reason));
});

test('what it asks beside: the models, and a suffix that is refused by its name', async () => {
  const models = await (await fetch(`${server.url}/v1/models`, { headers })).json();
  assert.equal(models.data[0].id, 'dts-nano');
  const reply = await fetch(`${server.url}/v1/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'dts-nano', prompt: 'a', suffix: 'b', max_tokens: 4 }),
  });
  assert.equal(reply.status, 400);
  assert.equal((await reply.json()).error.param, 'suffix');
});
