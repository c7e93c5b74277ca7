/** The program and the browser, started and stopped. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer, connect } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium, firefox } from 'playwright-core';
import { startServer as start } from '../serve/server.mjs';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long a test waits for what should come: long, for a machine that is busy with other things. */
const kPatienceMs = 120000;

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
  const asked = []; // what came over each connection
  let open = true;
  const server = createServer((client) => {
    if (!open) return client.destroy();
    const upstream = connect(targetPort, '127.0.0.1');
    const connection = asked.push('') - 1;
    client.on('data', (bytes) => (asked[connection] += bytes.toString('latin1')));
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
    /** The last events that those knew who went on with a tree. */
    resumedAfter: () =>
      asked.flatMap((text) => [...text.matchAll(/^last-event-id: (\d+)/gim)].map((id) => Number(id[1]))),
    stop() {
      this.cut();
      server.close();
    },
  };
}

/** Stands between them and knows the key of the page itself, but not that of what the page asks for. */
export async function startDoor(targetPort, key) {
  const server = createHttpServer((asked, answer) => {
    const { method, url: path } = asked;
    const headers = path.startsWith('/v1/') ? asked.headers : { ...asked.headers, authorization: `Bearer ${key}` };
    const upstream = httpRequest({ host: '127.0.0.1', port: targetPort, method, path, headers }, (given) => {
      answer.writeHead(given.statusCode, given.rawHeaders);
      given.pipe(answer);
    });
    upstream.on('error', () => answer.destroy());
    answer.on('close', () => upstream.destroy());
    asked.pipe(upstream);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The two engines that people use; "firefox" in $DTS_PAGE_BROWSER takes the other one. */
const kBrowsers = {
  chromium: { names: ['chromium', 'chromium-browser', 'google-chrome'], variable: 'DTS_CHROMIUM' },
  firefox: { names: ['firefox-esr', 'firefox'], variable: 'DTS_FIREFOX' },
};
export const browserName = process.env.DTS_PAGE_BROWSER ?? 'chromium';

/** The browser's program: as its variable says, else along the path. Without one there is nothing to test: exit code 77. */
function findBrowser() {
  const { names, variable } = kBrowsers[browserName];
  const places = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const found = [process.env[variable] ?? '', ...places].find((path) => path !== '' && existsSync(path));
  if (found !== undefined) return found;
  console.error(`skipped: there is no ${names[0]} here; apt-get install ${names[0]}, or name one in ${variable}`);
  process.exit(77);
}

const executablePath = findBrowser();

/** The version that Debian has, not one that Playwright brings. Firefox has its options as a whole, not a page its own. */
export function launchBrowser({ colorScheme = 'light', reducedMotion = 'no-preference' } = {}) {
  if (browserName === 'chromium') return chromium.launch({ executablePath, args: ['--no-sandbox'] });
  return firefox.launch({
    executablePath,
    channel: 'moz-firefox', // by WebDriver BiDi, which stock Firefox speaks
    firefoxUserPrefs: {
      'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1,
      'ui.prefersReducedMotion': reducedMotion === 'reduce' ? 1 : 0,
      'ui.useOverlayScrollbars': 1, // as on a phone: they take no room
      'browser.download.folderList': 2,
      'browser.download.dir': downloads(),
    },
  });
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
    if (/willReadFrequently/.test(message.text())) return; // it is we who read the pixels, below
    if (message.type() === 'error' || message.type() === 'warning') note(message.text());
  });
  page.on('pageerror', (error) => note(String(error.stack)));
  const own = url.startsWith('file:') ? url : new URL(url).origin;
  page.on('request', (request) => {
    if (!request.url().startsWith(own) && !request.url().startsWith('blob:')) note(`asked ${request.url()}`);
  });
  page.setDefaultTimeout(kPatienceMs);
  await page.goto(url);
  return Object.assign(page, {
    async finish() {
      assert.deepEqual(complaints, []);
      await context.close();
    },
  });
}

/** A page from the disk where no script of its own runs: Firefox cannot be told so, but a policy can. */
export async function openWithoutScripts(browser, url, options = {}) {
  if (browserName === 'chromium') return openPage(browser, url, { ...options, javaScriptEnabled: false });
  const html = readFileSync(new URL(url), 'utf8');
  const forbidden = html.replace(/script-src 'sha256-[^']*'/, "script-src 'none'");
  assert.notEqual(forbidden, html);
  const other = new URL(url.replace(/\.html$/, '.scriptless.html'));
  writeFileSync(other, forbidden);
  const page = await openPage(browser, other.href, { ...options, expected: [kPolicy] });
  await page.locator('.plain').first().waitFor(); // it waits a moment for the script
  return page;
}

/** How the browsers say that a Content-Security-Policy forbids something. */
export const kPolicy = /Content[- ]Security[- ]Policy/;

/** The page as it is printed: Firefox cannot be told so, but its style sheets can. */
export async function asPrinted(page) {
  if (browserName === 'chromium') return page.emulateMedia({ media: 'print' });
  await page.evaluate(() => {
    for (const sheet of document.styleSheets) {
      for (const rule of sheet.cssRules) {
        if (!(rule instanceof CSSMediaRule)) continue;
        if (rule.media.mediaText === 'print') rule.media.mediaText = 'all';
        else if (rule.media.mediaText.startsWith('screen')) rule.media.mediaText = 'not all';
      }
    }
  });
}

/** Where Firefox saves: Playwright does not hear of what its pages save. */
let downloadFolder;
function downloads() {
  if (downloadFolder === undefined) {
    downloadFolder = mkdtempSync(join(tmpdir(), 'dts-downloads-'));
    process.on('exit', () => rmSync(downloadFolder, { recursive: true, force: true }));
  }
  return downloadFolder;
}

/** The text of the next file that is whole in the folder of downloads; it is taken away. */
async function nextDownload() {
  for await (const _ of watch(downloads(), { signal: AbortSignal.timeout(kPatienceMs) })) {
    const names = readdirSync(downloads());
    const whole = names.find((name) => statSync(join(downloads(), name)).size > 0 && !name.endsWith('.part'));
    if (whole === undefined || names.some((name) => name.endsWith('.part'))) continue;
    const text = readFileSync(join(downloads(), whole), 'utf8');
    rmSync(join(downloads(), whole));
    return text;
  }
}

/** Saves what the button `name` saves, and reads it. */
export async function savedBy(page, name) {
  const press = page.getByRole('button', { name });
  if (browserName === 'firefox') return (await Promise.all([nextDownload(), press.click()]))[0];
  const [download] = await Promise.all([page.waitForEvent('download'), press.click()]);
  return readFileSync(await download.path(), 'utf8');
}

/** A finger on the page. Playwright has none for Firefox: there it is the click that a tap ends in. */
export const tap = (locator, options) => (browserName === 'firefox' ? locator.click(options) : locator.tap(options));

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
