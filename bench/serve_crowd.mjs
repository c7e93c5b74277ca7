// Many clients of two keys at once, each answer compared with what the same request gets from a server of its own:
//
//   node bench/serve_crowd.mjs --program build/release/bin/dts --clients 64 --seconds 60
//
// Chats and texts, streams, tools, schemas, grammars, several choices, trees of several methods. Ends with 1 when an answer
// differs from its solo run, on any error, and when a key sees a run of the other's.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startServer } from '../tests/serve/server.mjs';

const { values } = parseArgs({
  options: {
    program: { type: 'string' },
    clients: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '60' },
    'max-tokens': { type: 'string', default: '120' },
  },
});
const clients = Number(values.clients);
const keys = ['anna-of-the-crowd', 'bert-of-the-crowd'];
const keyFile = join(mkdtempSync(join(tmpdir(), 'dts-crowd-')), 'keys');
writeFileSync(keyFile, keys.join('\n'));

const schema = {
  type: 'object',
  properties: { size: { enum: ['small', 'large'] }, sure: { type: 'boolean' } },
  required: ['size', 'sure'],
  additionalProperties: false,
};
const tools = [{ type: 'function', function: { name: 'weigh', parameters: schema } }];
const chat = (content, more) => ({ path: 'chat/completions', messages: [{ role: 'user', content }], ...more });
const kinds = [
  chat('What is 7 + 3 * 4?', { dts: { method: 'standard' } }),
  chat('What is 7 + 3 * 4?', { dts: { method: 'dts-stable', max_branches: 8 }, stream: true }),
  chat('Theo has 3 times as many books as Ella. Ella has 12 books. How many books do they have together?', {
    dts: { method: 'dts-greedy', max_branches: 12 },
  }),
  chat('Is 7 small or large?', {
    dts: { method: 'self-consistency', votes: 3 },
    response_format: { type: 'json_schema', json_schema: { name: 'size', schema } },
  }),
  chat('Weigh the plates.', { dts: { method: 'standard' }, tools, tool_choice: 'required' }),
  chat('Weigh the plates, or not.', { dts: { method: 'standard' }, tools, n: 2, presence_penalty: 0.5 }),
  chat('Yes or no?', { dts: { method: 'standard' }, grammar: 'root ::= "yes" | "no"', stream: true }),
  { path: 'completions', prompt: 'What is 2 + 2?', dts: { method: 'standard' }, logprobs: 2 },
];
const bodies = kinds.flatMap((kind) => [1, 2, 3].map((seed) => ({ ...kind, seed, max_tokens: Number(values['max-tokens']) })));

/** What was said, without what may differ: times, ids and what was cached. */
async function ask(url, key, { path, ...body }) {
  const reply = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
  const text = await reply.text();
  const said = (choice) => ({ finish: choice.finish_reason, votes: choice.dts?.votes, seed: choice.dts?.seed, steps: choice.dts?.steps });
  const calls = (list) => list?.map((call) => call.function);
  if (!body.stream) {
    return JSON.stringify(JSON.parse(text).choices.map((choice) => [
      choice.text ?? choice.message.content, choice.message?.reasoning_content, calls(choice.message?.tool_calls), choice.logprobs, said(choice),
    ]));
  }
  let content = '';
  let reasoning = '';
  let last;
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
    const event = JSON.parse(line.slice(6));
    if (event.error !== undefined) throw new Error(event.error.message);
    const choice = event.choices[0];
    content += choice?.delta.content ?? '';
    reasoning += choice?.delta.reasoning_content ?? '';
    if (choice?.finish_reason) last = choice;
  }
  return JSON.stringify([content, reasoning, said(last)]);
}

const options = ['--api-key-file', keyFile, '--max-queue', String(4 * clients)];
const alone = await startServer(values.program, options);
const solo = [];
for (const body of bodies) solo.push(await ask(alone.url, keys[0], body));
await alone.stop();

const server = await startServer(values.program, options);
const wrong = [];
let equal = 0;
const began = Date.now();
const waits = [];
await Promise.all(
  Array.from({ length: clients }, async (_, client) => {
    for (let count = 0; count === 0 || (Date.now() - began) / 1000 < Number(values.seconds); ++count) {
      const which = (client * 5 + count * 7) % bodies.length;
      const asked = Date.now();
      try {
        const answer = await ask(server.url, keys[client % 2], bodies[which]);
        if (answer === solo[which]) equal += 1;
        else wrong.push(`${JSON.stringify(bodies[which])}\n  alone: ${solo[which]}\n  here:  ${answer}`);
      } catch (error) {
        wrong.push(`${JSON.stringify(bodies[which])}: ${error.message}`);
      }
      waits.push((Date.now() - asked) / 1000);
    }
  }),
);
const ids = await Promise.all(
  keys.map(async (key) => {
    const list = await (await fetch(`${server.url}/v1/trees`, { headers: { Authorization: `Bearer ${key}` } })).json();
    return (list.data ?? list).map((tree) => tree.id);
  }),
);
if (ids[0].some((id) => ids[1].includes(id))) wrong.push('a key sees a run of the other');
if (ids.some((list) => list.length === 0)) wrong.push('a key does not see its own runs');
const code = await server.stop();
if (code !== 0) wrong.push(`the server ended with ${code}`);
waits.sort((a, b) => a - b);
console.log(
  `${clients} clients, two keys, ${((Date.now() - began) / 1000).toFixed(1)} s: ${equal} answers equal to their solo runs, ` +
    `${wrong.length} not; median ${waits[waits.length >> 1].toFixed(2)} s, slowest ${waits.at(-1).toFixed(2)} s`,
);
for (const line of wrong.slice(0, 5)) console.log(line);
process.exitCode = wrong.length === 0 ? 0 : 1;
