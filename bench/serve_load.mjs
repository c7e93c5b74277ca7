// Many clients at once against `dts serve`, some of whom leave before they are answered:
//
//   node bench/serve_load.mjs --program build/release/bin/dts --clients 64 --seconds 60
//   node bench/serve_load.mjs --program build/release/bin/dts --clients 8 --requests 10000 --max-tokens 8
//
// Each client asks again as soon as it was answered, for a time (--seconds) or until there were so many (--requests).
// Prints what came back, how long it took, whether anybody starved, and the server's memory. Ends with 1 when there was
// an error, a client that was never answered, or something left behind: a run, a connection, or memory beyond what the
// kept trees may take.
import { request } from 'node:http';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { metric, startServer } from '../tests/serve/server.mjs';

const { values } = parseArgs({
  options: {
    program: { type: 'string' },
    clients: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '60' },
    requests: { type: 'string', default: 'Infinity' },
    leave: { type: 'string', default: '0.15' }, // share of requests whose client leaves
    method: { type: 'string', default: 'dts-stable' },
    'max-tokens': { type: 'string', default: '200' },
    'max-branches': { type: 'string', default: '8' },
    'memory-mib': { type: 'string', default: '64' }, // growth after the warm-up that is no leak
  },
});
const clients = Number(values.clients);
const wanted = Number(values.requests);
const questions = [
  'Mara has 87 plates. Nora has 26 fewer plates than Mara. How many plates do they have together?',
  'Theo has 3 times as many books as Ella. Ella has 12 books. How many books do they have together?',
  'What is 7 + 3 * 4?',
];

const server = await startServer(values.program, ['--max-queue', String(2 * clients), '--keep-trees', '16']);
const port = Number(new URL(server.url).port);

/** Resident memory of the server, MiB. */
function resident() {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) / 1024;
}

/** One question. Resolves with 'answered', 'left', or what went wrong. */
function ask(client, count) {
  const stream = (client + count) % 2 === 0;
  const body = JSON.stringify({
    messages: [{ role: 'user', content: questions[(client * 7 + count) % questions.length] }],
    seed: client * 1000 + count,
    stream,
    max_tokens: Number(values['max-tokens']),
    dts: { method: values.method, max_branches: Number(values['max-branches']) },
  });
  return new Promise((resolve) => {
    const leaves = Math.random() < Number(values.leave);
    let text = '';
    const call = request(
      { port, host: '127.0.0.1', method: 'POST', path: '/v1/chat/completions', agent: false,
        headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } },
      (response) => {
        response.setEncoding('utf8');
        response.on('data', (data) => {
          text += data;
          if (leaves && stream) finish('left');
        });
        response.on('end', () => {
          const whole = stream ? text.endsWith('data: [DONE]\n\n') : text.includes('"finish_reason":"');
          finish(response.statusCode === 200 && whole ? 'answered' : `status ${response.statusCode}: ${text.slice(0, 200)}`);
        });
        response.on('error', (error) => finish(`broken: ${error.message}`));
      },
    );
    let over = false;
    let timer;
    function finish(result) {
      if (over) return;
      over = true;
      clearTimeout(timer);
      if (result !== 'answered') call.destroy();
      resolve(result);
    }
    if (leaves && !stream) timer = setTimeout(() => finish('left'), Math.random() * 500);
    call.on('error', (error) => finish(`broken: ${error.message}`));
    call.end(body);
  });
}

const results = new Map();
const latencies = [];
const answeredBy = new Array(clients).fill(0);
const memory = [];
let asked = 0;

async function run(until, count) {
  const start = Date.now();
  let left = count;
  await Promise.all(
    answeredBy.map(async (_, client) => {
      for (let i = 0; Date.now() - start < until && left > 0; ++i) {
        left -= 1;
        asked += 1;
        const began = performance.now();
        const result = await ask(client, asked);
        results.set(result, (results.get(result) ?? 0) + 1);
        if (result !== 'answered') continue;
        answeredBy[client] += 1;
        latencies.push(performance.now() - began);
      }
    }),
  );
  return (Date.now() - start) / 1000;
}

const started = resident();
// What grows once, buffers and kept trees, has grown after a while: memory counts from there.
await run(3000, Math.min(wanted, 200));
results.clear();
latencies.length = 0;
answeredBy.fill(0);
const warm = resident();
const busyBefore = await metric(server.url, 'dts_engine_busy_seconds_total');
const sampling = setInterval(() => memory.push(resident()), 1000);
const seconds = await run(Number.isFinite(wanted) ? Infinity : Number(values.seconds) * 1000, wanted);
clearInterval(sampling);
const busy = (await metric(server.url, 'dts_engine_busy_seconds_total')) - busyBefore;

// The last to leave are noticed within a step.
const quietBy = Date.now() + 5000;
while ((await metric(server.url, 'dts_runs_active')) > 0 && Date.now() < quietBy) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
const active = await metric(server.url, 'dts_runs_active');
const live = await metric(server.url, 'dts_branches_live');
const generated = await metric(server.url, 'dts_generated_tokens_total');
const ended = resident();
const code = await server.stop();

latencies.sort((a, b) => a - b);
const quantile = (q) => ((latencies[Math.floor(q * (latencies.length - 1))] ?? NaN) / 1000).toFixed(2);
const answered = results.get('answered') ?? 0;
const errors = [...results].filter(([result]) => result !== 'answered' && result !== 'left');
const fewest = Math.min(...answeredBy);
console.log(`${clients} clients, ${seconds.toFixed(1)} s: ${answered} answered (${(answered / seconds).toFixed(1)}/s), ` +
  `${results.get('left') ?? 0} left early, ${errors.length} kinds of error`);
console.log(`seconds to an answer: median ${quantile(0.5)}, 95% ${quantile(0.95)}, 99% ${quantile(0.99)}, longest ${quantile(1)}`);
console.log(`answers a client: from ${fewest} to ${Math.max(...answeredBy)}; ${generated} tokens generated; ` +
  `the engine worked ${((100 * busy) / seconds).toFixed(0)}% of the time`);
console.log(`memory, MiB: ${started.toFixed(1)} at the start, ${warm.toFixed(1)} warm, ` +
  `${Math.max(warm, ...memory).toFixed(1)} at most, ${ended.toFixed(1)} at the end`);
const failures = errors.map(([result, count]) => `${count} x ${result}`);
if (answered === 0) failures.push('nobody was answered');
if (fewest === 0 && !Number.isFinite(wanted)) failures.push('a client was never answered');
if (active !== 0 || live !== 0) failures.push(`${active} runs and ${live} branches were left behind`);
if (ended - warm > Number(values['memory-mib'])) failures.push(`memory grew by ${(ended - warm).toFixed(1)} MiB`);
if (code !== 0) failures.push(`the server ended with ${code}`);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
