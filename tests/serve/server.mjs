/** `dts serve`, started and stopped. */
import { spawn } from 'node:child_process';

/**
 * Starts it on a free port with the built-in model; `program` is the dts program. Requests without a seed get the same one each
 * time: with one seed in a hundred the model thinks in circles until its limit, and a test would fail by chance.
 */
export async function startServer(program, options = [], environment = {}) {
  if (program === undefined) throw new Error('DTS_PROGRAM should name the dts program');
  const seed = options.includes('--seed') ? [] : ['--seed', '1'];
  const child = spawn(program, ['serve', '--port', '0', '--threads', '1', ...seed, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let said = '';
  child.stderr.on('data', (data) => (said = (said + data).slice(-20000)));
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  const url = await new Promise((resolve, reject) => {
    let printed = ''; // notes may name other addresses
    child.stdout.on('data', (data) => {
      said += data;
      printed += data;
      const match = /http:\/\/127\.0\.0\.1:\d+/.exec(printed);
      if (match !== null) resolve(match[0]);
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`dts serve ended with ${code}:\n${said}`)));
  });
  return {
    url,
    pid: child.pid,
    ended,
    log: () => said,
    /** The exit code. */
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

/** The value of one metric, summed over its labels. */
export async function metric(url, name) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
