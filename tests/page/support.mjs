/** The program and the browser, started and stopped. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { startServer as start } from '../serve/server.mjs';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const running = new Set();

/** Those that tests have left, too. */
export function stopServers() {
  return Promise.all([...running].map((server) => server.stop('SIGKILL')));
}

/** `dts serve`, ready to answer. */
export async function startServer(...options) {
  const server = await start(process.env.DTS_PROGRAM, options);
  running.add(server);
  return {
    ...server,
    url: `${server.url}/`,
    port: Number(new URL(server.url).port),
    stop: () => server.stop('SIGKILL'),
  };
}

/** Its runs go on while a test looks on, whatever the machine: plain loops take a minute for what kernels do in a blink. */
export const startSlowServer = () => startServer('--engine', 'native-oracle');

/** Stands between the browser and the server, and can cut the line. */
export async function startProxy(targetPort) {
  const sockets = new Set();
  let open = true;
  const server = createServer((client) => {
    if (!open) return client.destroy();
    const upstream = connect(targetPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    cut() {
      open = false;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => (open = true),
    stop() {
      this.cut();
      server.close();
    },
  };
}

/** Chromium's program: $DTS_CHROMIUM, else along the path. Without one there is nothing to test: exit code 77. */
function findChromium() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const places = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const found = [process.env.DTS_CHROMIUM ?? '', ...places].find((path) => path !== '' && existsSync(path));
  if (found !== undefined) return found;
  console.error('skipped: there is no Chromium here; apt-get install chromium, or name one in DTS_CHROMIUM');
  process.exit(77);
}

const executablePath = findChromium();

export function launchBrowser() {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** A page that fails its test when it complains. `expected`: complaints that belong to the test. */
export async function openPage(browser, url, { expected = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 820 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  const note = (text) => {
    if (!expected.some((pattern) => pattern.test(text))) complaints.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') note(message.text());
  });
  page.on('pageerror', (error) => note(String(error.stack)));
  const own = url.startsWith('file:') ? url : new URL(url).origin;
  page.on('request', (request) => {
    if (!request.url().startsWith(own) && !request.url().startsWith('blob:')) note(`asked ${request.url()}`);
  });
  page.setDefaultTimeout(30000);
  await page.goto(url);
  return Object.assign(page, {
    async finish() {
      assert.deepEqual(complaints, []);
      await context.close();
    },
  });
}

/** Saves what the button `name` saves, and reads it. */
export async function savedBy(page, name) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
  return readFileSync(await download.path(), 'utf8');
}

/** How wide everything is, in pixels. */
export const pageWidth = (page) => page.evaluate(() => document.scrollingElement.scrollWidth);

/** Waits until finished branches are on the canvas: something in the first answer's colour. */
export const finishedDrawn = (page) =>
  page.waitForFunction(() => {
    const colour = getComputedStyle(document.documentElement).getPropertyValue('--answer-blue').trim();
    const wanted = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    const canvas = document.querySelector('.canvas-box canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4) {
      if (wanted.every((value, channel) => data[i + channel] === value)) return true;
    }
    return false;
  });

/** What axe finds wrong, one line each. */
export async function accessibilityProblems(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
  );
}

/** The page knows its server. */
export const ready = (page) => page.waitForSelector('.server.there');
export const ended = (page) =>
  page.waitForFunction(() => document.querySelector('.answer .label')?.textContent === 'Answer');

export async function ask(page, question) {
  await ready(page);
  await page.getByLabel('Question', { exact: true }).fill(question);
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
}
