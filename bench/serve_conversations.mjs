// A day's worth of conversations against `dts serve`, and what is left of them in memory:
//
//   node bench/serve_conversations.mjs --program build/release/bin/dts --conversations 3000
//
// Each conversation has a long beginning of its own and goes on for a few turns, with what was answered in it, so that
// every turn begins with the one before; some use a tool, some a schema. All of it is one message: the built-in model's
// template shows no other. Prints the server's memory as it goes. Ends with 1 on
// an error, when a turn did not reuse the one before, when a conversation of long ago is still kept, when more trees are
// kept than may be, or when memory grows after the first quarter.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { metric, startServer } from '../tests/serve/server.mjs';

const { values } = parseArgs({
  options: {
    program: { type: 'string' },
    conversations: { type: 'string', default: '3000' },
    turns: { type: 'string', default: '3' },
    clients: { type: 'string', default: '4' },
    'max-tokens': { type: 'string', default: '4' },
    'prefix-mib': { type: 'string', default: '8' },
    'memory-mib': { type: 'string', default: '16' }, // growth after the first quarter that is no leak
  },
});
const conversations = Number(values.conversations);
const turns = Number(values.turns);
const keepTrees = 16;
const server = await startServer(values.program, [
  '--prefix-cache', values['prefix-mib'], '--keep-trees', String(keepTrees), '--max-queue', '64',
]);
const failures = [];
const memory = []; // MiB, after so many conversations

function resident() {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;
}

const tools = [{ type: 'function', function: { name: 'weigh', parameters: { type: 'object', properties: { large: { type: 'boolean' } } } } }];
const schema = { type: 'json_schema', json_schema: { name: 'size', schema: { type: 'object', properties: { large: { type: 'boolean' } }, required: ['large'] } } };

async function ask(messages, more) {
  const reply = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ messages, max_tokens: Number(values['max-tokens']), seed: 1, dts: { method: 'standard' }, ...more }),
  });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${reply.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

// As long as a chunk of a prompt and more: less is never shared. Every one begins with a number of its own, and all are
// as long: the engine's memory grows with the longest there was.
const beginning = (n) => `${10_000 + n} plates. ${'Mara has 87 plates. '.repeat(40)}`;

async function converse(n) {
  let said = beginning(n);
  for (let turn = 0; turn < turns; ++turn) {
    said += ` What is ${n % 100} + ${turn}?`;
    const more = n % 4 === 1 ? { tools } : n % 4 === 2 ? { response_format: schema } : n % 4 === 3 ? { dts: { method: 'dts-greedy', max_branches: 3, votes: 2 } } : {};
    const reply = await ask([{ role: 'user', content: said }], more);
    const { prompt_tokens, prompt_tokens_details } = reply.usage;
    if (turn > 0 && prompt_tokens_details.cached_tokens === 0) failures.push(`turn ${turn} of talk ${n} reused nothing of ${prompt_tokens}`);
    said += ` ${reply.choices[0].message.content ?? ''}`;
  }
}

let next = 0;
const every = Math.max(1, Math.floor(conversations / 20));
async function client() {
  while (next < conversations) {
    const n = next++;
    try {
      await converse(n);
    } catch (error) {
      failures.push(`talk ${n}: ${error.message}`);
    }
    if (n % every === 0) {
      memory.push(resident());
      console.log(`${n} conversations: ${memory.at(-1).toFixed(1)} MiB`);
    }
  }
}
await Promise.all(Array.from({ length: Number(values.clients) }, client));
memory.push(resident());

// A run that has just been answered is told apart from those that are kept only when it is put with them.
let listed = Infinity;
for (let tries = 0; listed > keepTrees && tries < 1000; ++tries) {
  listed = (await (await fetch(`${server.url}/v1/trees`)).json()).data.length;
}
const kept = await metric(server.url, 'dts_trees_kept_bytes');
const active = await metric(server.url, 'dts_runs_active');
const again = await ask([{ role: 'user', content: `${beginning(0)} And?` }], {});
const rest = memory.slice(Math.ceil(memory.length / 4));
const growth = rest.at(-1) - rest[0];
console.log(`${conversations} conversations of ${turns} turns: ${rest[0].toFixed(1)} MiB after the first quarter, ${rest.at(-1).toFixed(1)} MiB at the end, ${Math.max(...memory).toFixed(1)} MiB at most`);
console.log(`${listed} trees are kept, ${(kept / 2 ** 20).toFixed(2)} MiB; ${again.usage.prompt_tokens_details.cached_tokens} of ${again.usage.prompt_tokens} tokens of the first talk's prompt`);
if (listed > keepTrees) failures.push(`${listed} trees are kept: ${keepTrees} may be`);
if (active !== 0) failures.push(`${active} runs were left`);
if (again.usage.prompt_tokens_details.cached_tokens !== 0) failures.push('the first talk is still kept');
if (growth > Number(values['memory-mib'])) failures.push(`memory grew by ${growth.toFixed(1)} MiB`);
const code = await server.stop();
if (code !== 0) failures.push(`the server ended with ${code}`);
for (const failure of failures.slice(0, 10)) console.error(failure);
process.exit(failures.length === 0 ? 0 : 1);
