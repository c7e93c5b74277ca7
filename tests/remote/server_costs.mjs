// What an endpoint of the simulated fleet costs: a llama-server of one thread, measured alone.
//   node tests/remote/server_costs.mjs LLAMA_SERVER MODEL.gguf
// By the server's processor time, not the clock's, so that what else the machine does matters less. Linux.
import { spawn, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';

const [program, model] = process.argv.slice(2);
if (!model) throw new Error('usage: node server_costs.mjs LLAMA_SERVER MODEL.gguf');
const streams = [1, 2, 4, 6, 12];
const tokens = 160; // a stream
const rounds = 3;

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

const port = await freePort();
const most = Math.max(...streams);
const server = spawn(
  program,
  ['-m', model, '--host', '127.0.0.1', '--port', String(port), '-np', String(most), '-c', String(most * 1024), '-t', '1'],
  { stdio: ['ignore', 'pipe', 'pipe'] },
);
process.on('exit', () => server.kill('SIGKILL'));
await new Promise((resolve, reject) => {
  let log = '';
  const read = (data) => {
    log += data;
    if (log.includes('listening on http')) resolve();
  };
  server.stdout.on('data', read);
  server.stderr.on('data', read);
  server.on('close', () => reject(new Error('the server ended: ' + log.slice(-500))));
});

const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
/** Processor seconds of the server so far. */
function cpu() {
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

/** Prompts that share nothing with those before them. */
let fresh = 0;
const prompt = (length) => Array.from({ length }, (_, i) => 10 + ((fresh * 7919 + i * 104729 + ((fresh * i) % 613)) % 900));

/** A connection each: the server closes those that had many requests. */
const ask = (body) =>
  new Promise((resolve, reject) => {
    const asked = request({ port, path: '/completion', method: 'POST', agent: false }, (answer) => {
      answer.on('data', () => {}).on('end', resolve).on('error', reject);
    });
    asked.on('error', reject);
    asked.end(JSON.stringify({ stream: true, return_tokens: true, ignore_eos: true, temperature: 0.6, ...body }));
  });

/** Processor seconds for each repetition of `work`, the least of some rounds. */
async function cost(work, repetitions) {
  let least = Infinity;
  for (let round = 0; round < rounds; ++round) {
    const before = cpu();
    for (let i = 0; i < repetitions; ++i) await work();
    least = Math.min(least, (cpu() - before) / repetitions);
  }
  return least;
}

const side = (n, body) => Promise.all(Array.from({ length: n }, () => (++fresh, ask(body()))));
await side(2, () => ({ prompt: prompt(16), n_predict: 8 }));

console.log('streams  ms for a token of each');
const line = [];
for (const n of streams) {
  const few = await cost(() => side(n, () => ({ prompt: prompt(16), n_predict: 8 })), 4);
  const many = await cost(() => side(n, () => ({ prompt: prompt(16), n_predict: 8 + tokens })), 2);
  const step = (1000 * (many - few)) / tokens;
  line.push([n, step]);
  console.log(`${String(n).padStart(7)}  ${step.toFixed(3)}`);
}
const short = await cost(() => side(1, () => ({ prompt: prompt(32), n_predict: 1, cache_prompt: false })), 20);
const long = await cost(() => side(1, () => ({ prompt: prompt(32 + 480), n_predict: 1, cache_prompt: false })), 20);
const promptToken = (1000 * (long - short)) / 480;
console.log(`a prompt's token that is not cached: ${promptToken.toFixed(4)} ms`);

// The straight line through what was measured, for fleet_simulation: alone, and for each stream beside.
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const x = mean(line.map(([n]) => n - 1));
const y = mean(line.map(([, step]) => step));
const slope = line.reduce((sum, [n, step]) => sum + (n - 1 - x) * (step - y), 0) / line.reduce((sum, [n]) => sum + (n - 1 - x) ** 2, 0);
console.log(
  `fleet_simulation 1000 0.0005 ${((y - slope * x) / 1000).toFixed(6)} ${(slope / 1000).toFixed(6)} ${(promptToken / 1000).toFixed(6)}`,
);
server.removeAllListeners('close');
server.kill('SIGKILL');
