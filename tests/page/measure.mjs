/**
 * How smooth the page is while a large tree grows and is looked at: 48 branches of 4,000 tokens, at 400 steps a second.
 * Prints figures; judges nothing.
 *
 *   node measure.mjs PAGE      the folder that Vite made: build/release/web/page
 */
import { spawn } from 'node:child_process';
import { launchBrowser, openPage } from './support.mjs';

const replay = new URL('../../web/dev/replay.mjs', import.meta.url).pathname;
const options = ['--port', '0', '--page', process.argv[2], '--steps-per-second', '400'];
const server = spawn(process.execPath, [replay, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
const url = await new Promise((resolve) => {
  server.stdout.on('data', (data) => resolve(`${/http:\S+/.exec(String(data))[0]}/`));
});
const browser = await launchBrowser();
const page = await openPage(browser, url, { viewport: { width: 1440, height: 900 } });

/** Frames and long tasks since the last time. */
async function report(name) {
  const { frames, tasks, heap } = await page.evaluate(() => {
    const { frames: seen, tasks: long } = globalThis.measured;
    globalThis.measured = { frames: [], tasks: [] };
    return { frames: seen, tasks: long, heap: performance.memory.usedJSHeapSize };
  });
  frames.sort((a, b) => a - b);
  const at = (share) => frames[Math.floor((frames.length - 1) * share)].toFixed(1).padStart(6);
  const long = tasks.length === 0 ? 'none' : `${tasks.length}, ${Math.max(...tasks).toFixed(0)} ms at most`;
  const times = `median ${at(0.5)} ms, 99% ${at(0.99)} ms, longest ${at(1)} ms`;
  console.log(`${name.padEnd(14)} ${times}; long tasks: ${long}; heap ${(heap / 1e6).toFixed(0)} MB`);
}

await page.waitForSelector('.server.there');
await page.evaluate(() => {
  globalThis.measured = { frames: [], tasks: [] };
  let last = performance.now();
  const tick = (now) => {
    globalThis.measured.frames.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.measured.tasks.push(duration);
  });
  observer.observe({ entryTypes: ['longtask'] });
});
await page.getByLabel('Question', { exact: true }).fill('A large tree');
await page.getByRole('button', { name: 'Ask', exact: true }).click();
await page.waitForTimeout(5000);
await report('first half');
await page.waitForFunction(() => document.querySelector('.answer .label')?.textContent === 'Answer');
await report('second half');

const { x, y, width, height } = await page.locator('.canvas-box canvas').boundingBox();
const middle = [x + width * 0.4, y + height * 0.5];
await page.mouse.move(...middle);
for (let i = 0; i < 30; ++i) {
  await page.mouse.wheel(0, -120);
  await page.waitForTimeout(16);
}
await report('zooming');
await page.mouse.down();
for (let i = 0; i < 60; ++i) await page.mouse.move(middle[0] + i * 5, middle[1] + i);
await page.mouse.up();
await report('panning');
await page.getByRole('button', { name: 'Fit' }).click();
for (let i = 0; i < 80; ++i) await page.mouse.move(x + 200 + i * 5, y + 60 + i * 5);
await report('pointing');
for (const tab of ['Branches', 'Uncertainty']) {
  await page.getByRole('tab', { name: tab }).click();
  await page.waitForTimeout(1000);
  await report(tab.toLowerCase());
}
await page.finish();
await browser.close();
server.kill();
