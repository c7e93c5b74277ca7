/** The page in a browser, against the program and its built-in model. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { metric } from '../serve/server.mjs';
import {
  accessibilityProblems,
  ask as askPage,
  ended,
  finishedDrawn,
  launchBrowser,
  openPage,
  pageWidth,
  ready,
  savedBy,
  startDoor,
  startProxy,
  startServer,
  startSlowServer,
  stopServers,
  tap,
} from './support.mjs';

const kQuestion =
  'Mara has 87 plates. Nora has 26 fewer plates than Mara. Ella has 37 fewer plates than Nora. Theo has 3 times as many plates as Ella. How many plates do they have together?';
const kLost = /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|ERR_SOCKET|ERR_NETWORK/;

let server;
let slow;
let browser;
before(async () => {
  [server, slow, browser] = await Promise.all([startServer(), startSlowServer(), launchBrowser()]);
});
after(async () => {
  await browser?.close();
  await stopServers();
});

const label = (page) => page.locator('.answer .label').textContent();

const ask = (page, question = kQuestion) => askPage(page, question);

/** The method's numbers are folded away. */
const numbers = (page) => page.getByText('How widely it searches').click();

/** Branches everywhere and stops nowhere: takes a while. */
async function askAtLength(page) {
  await ready(page);
  await page.getByLabel('Question', { exact: true }).fill(kQuestion);
  await numbers(page);
  await page.getByLabel('Varentropy ≥', { exact: true }).fill('0');
  await page.getByLabel('Entropy ≤', { exact: true }).fill('100');
  await page.getByLabel('Votes', { exact: true }).fill('1000');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length > 10);
}

const runId = (page) => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('run'));

describe('a question', () => {
  it('grows a tree, and its votes give the answer', async () => {
    const page = await openPage(browser, server.url);
    await ask(page);
    await ended(page);
    const tree = await (await fetch(`${server.url}v1/trees/${await runId(page)}`)).json();
    assert.equal(await page.locator('.answer .value').textContent(), tree.answer);
    const votes = await page.locator('.vote-count').allTextContents();
    assert.deepEqual(
      votes.map((text) => Number.parseInt(text, 10)),
      tree.votes.map((vote) => vote.votes),
    );
    await page.waitForFunction((n) => document.querySelectorAll('[role=treeitem]').length === n, tree.segments.length);
    const winner = tree.segments[tree.finished[tree.winner].leaf];
    const tail = winner.text.slice(winner.text.indexOf('</think>') + 8).trim();
    await page.getByLabel('Format the answer').uncheck();
    assert.equal((await page.locator('.part.answer .text-block').textContent()).trim(), tail);
    const decided = await page.locator('.decided').count();
    let depth = 0;
    for (let at = winner; at.parent !== null; at = tree.segments[at.parent]) ++depth;
    assert.equal(decided, depth);
    await page.finish();
  });

  it('leads from a decision in the text to its alternatives', async () => {
    const page = await openPage(browser, server.url);
    await ask(page);
    await ended(page);
    const title = page.locator('.reader h3');
    const before = await title.textContent();
    await page.locator('.decided').first().click();
    await page.locator('.alternatives .alternative:not([aria-current])').first().click();
    assert.notEqual(await title.textContent(), before);
    await page.finish();
  });

  it('is drawn where it can be pointed at', async () => {
    const page = await openPage(browser, server.url, { reducedMotion: 'reduce' }); // rows are at their places at once
    await ask(page);
    await ended(page);
    await finishedDrawn(page);
    const { width, height } = await page.locator('.canvas-box').boundingBox();
    const seen = new Set();
    for (let y = 40; y < height - 20; y += 8) {
      await page.locator('.canvas-box canvas').hover({ position: { x: Math.min(width - 10, width * 0.72), y } });
      const tip = page.locator('.tooltip strong');
      if ((await tip.count()) > 0) seen.add(await tip.textContent());
    }
    assert.ok(seen.size >= 5, `pointed at ${[...seen].join('; ')}`);
    await page.finish();
  });

  it('can be saved as JSON and as SVG', async () => {
    const page = await openPage(browser, server.url);
    await ask(page);
    await ended(page);
    assert.equal(JSON.parse(await savedBy(page, 'Save JSON')).format, 'dts-tree');
    const svg = await savedBy(page, 'Save SVG');
    const parsed = await page.evaluate((text) => {
      const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
      return { name: root.nodeName, paths: root.querySelectorAll('path').length };
    }, svg);
    assert.equal(parsed.name, 'svg');
    assert.ok(parsed.paths > 10);
    await page.finish();
  });

  it('can be asked with other methods and numbers', async () => {
    const page = await openPage(browser, server.url);
    await ready(page);
    await page.getByLabel('Method', { exact: true }).selectOption('self-consistency');
    await numbers(page);
    await page.getByLabel('Votes', { exact: true }).fill('3');
    await page.getByText('Chance, length and seed').click();
    await page.getByLabel('Seed', { exact: true }).fill('7');
    await ask(page);
    await ended(page);
    const tree = await (await fetch(`${server.url}v1/trees/${await runId(page)}`)).json();
    assert.equal(tree.method.name, 'self-consistency');
    assert.equal(tree.method.width, 3);
    assert.equal(tree.seed, 7);
    assert.equal(await page.locator('[role=treeitem]').count(), 3);
    await page.finish();
  });

  it('stays in the history, through a reload too', async () => {
    const page = await openPage(browser, server.url);
    await ask(page, 'Find the value of (66 - 36) x 8 - 14 + 86.');
    await ended(page);
    const first = await page.locator('.answer .value').textContent();
    await ask(page);
    await ended(page);
    await page.locator('.history > .entries button').nth(1).click();
    assert.equal(await page.locator('.answer .value').textContent(), first);
    await page.reload();
    await ended(page);
    assert.equal(await page.locator('.answer .value').textContent(), first);
    assert.equal(await page.locator('.history > .entries button').count(), 2);
    await page.finish();
  });
});

describe('two branches', () => {
  it('stand side by side, with where they part', async () => {
    const page = await openPage(browser, server.url);
    await ask(page);
    await ended(page);
    await page.getByLabel('Compare with').selectOption({ index: 3 });
    const columns = await page.locator('.column .branch-text').allTextContents();
    assert.equal(columns.length, 2);
    assert.notEqual(columns[0], columns[1]);
    assert.match(await page.locator('.parting').textContent(), /They part at token \d+, where entropy is/);
    await page.finish();
  });
});

describe('cancelling', () => {
  it('ends the run and says so', async () => {
    const page = await openPage(browser, slow.url);
    await askAtLength(page);
    await page.waitForTimeout(500); // earlier, it would be taken for half of a double click
    await page.getByRole('button', { name: 'Cancel' }).click();
    await ended(page);
    assert.match(await page.locator('.answer .hint').textContent(), /Cancelled/);
    const trees = await (await fetch(`${slow.url}v1/trees`)).json();
    assert.equal(
      trees.data.find(({ id }) => id === decodeURIComponent(page.url().split('run=')[1])).state,
      'cancelled',
    );
    // What is read out follows a moment after what is seen.
    await page.waitForFunction(() =>
      [...document.querySelectorAll('[role=treeitem]')].every((item) => !item.textContent.includes('growing')),
    );
    await ask(page);
    await page.finish();
  });

  it('is not what a double click on Ask means', async () => {
    const page = await openPage(browser, server.url);
    await ready(page);
    await page.getByLabel('Question', { exact: true }).fill(kQuestion);
    await page.getByRole('button', { name: 'Ask', exact: true }).dblclick({ delay: 30 });
    await ended(page);
    assert.doesNotMatch(await page.locator('.answer .hint').textContent(), /Cancelled/);
    await page.finish();
  });
});

describe('a server that goes away', () => {
  it('is missed, and found again', async () => {
    const mortal = await startSlowServer();
    const page = await openPage(browser, mortal.url, { expected: [kLost, /404/] });
    await askAtLength(page);
    const seen = await page.locator('[role=treeitem]').count();
    await mortal.stop();
    await page.getByText('The server cannot be reached').first().waitFor();
    await startServer('--port', String(mortal.port));
    await ready(page);
    await page.locator('.error', { hasText: 'The server no longer has this run' }).waitFor();
    assert.equal(await page.locator('.banner').count(), 0);
    assert.ok((await page.locator('[role=treeitem]').count()) >= seen, 'what had arrived stays');
    await ask(page);
    await page.waitForFunction(() => document.querySelector('.answer .label')?.textContent !== 'Answer');
    await page.locator('[role=treeitem]').first().waitFor({ state: 'attached' });
    assert.equal(await page.locator('.error').count(), 0);
    await page.finish();
  });

  it('is followed from where the line broke', async () => {
    const proxy = await startProxy(slow.port);
    // The page first: on a busy machine a browser takes long, and the run must not be over before the line is cut.
    const page = await openPage(browser, proxy.url, { expected: [kLost] });
    await ready(page);
    const response = await fetch(`${slow.url}v1/chat/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        messages: [{ role: 'user', content: kQuestion }],
        stream: true,
        dts: { method: 'dts-stable', tau_v: 0, tau_h: 100, votes: 1000, max_branches: 96 },
      }),
    });
    const drained = response.text();
    const id = response.headers.get('X-Request-Id');
    await page.evaluate((run) => (location.hash = `#run=${run}`), id);
    await page.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length > 5);
    assert.deepEqual(proxy.resumedAfter(), []);
    proxy.cut();
    await page.getByText('The server cannot be reached').first().waitFor();
    proxy.mend();
    await ready(page);
    await fetch(`${slow.url}v1/trees/${id}`, { method: 'DELETE' });
    await ended(page);
    await drained;
    proxy.stop(); // before anything can fail: an open server would keep this process alive
    // As the server hears it: a browser may tell of a request later than its page shows the reply.
    const resumed = proxy.resumedAfter();
    assert.ok(resumed.length > 0 && resumed[0] > 5, `resumed after ${resumed}`);
    const tree = await (await fetch(`${slow.url}v1/trees/${id}`)).json();
    await page.waitForFunction((n) => document.querySelectorAll('[role=treeitem]').length === n, tree.segments.length);
    assert.match(
      await page.locator('.figures').textContent(),
      new RegExp(tree.account.unique_tokens.toLocaleString('en-US')),
    );
    await page.finish();
  });
});

describe('refusals', () => {
  it('are told in the words of the server', async () => {
    const page = await openPage(browser, server.url, { expected: [/400/] });
    await ready(page);
    await page.getByLabel('Method', { exact: true }).selectOption('short-m@k');
    await numbers(page);
    await page.getByLabel('Samples', { exact: true }).fill('2');
    await ask(page);
    await page.locator('.error').waitFor();
    assert.match(await page.locator('.error').textContent(), /refuses the request: dts\.votes is 8.*dts\.samples/);
    await page.finish();
  });

  it('of a number alone are not needed: the fields know what the server takes', async () => {
    const page = await openPage(browser, server.url);
    await ready(page);
    const { data } = await (await fetch(`${server.url}v1/models`)).json();
    for (const option of data[0].dts.options) {
      if (option.group !== 'method' || option.type !== 'whole' || !option.methods.includes('dts-stable')) continue;
      const field = page.getByLabel(option.label, { exact: true });
      assert.equal(await field.getAttribute('min'), String(option.least), option.name);
      assert.equal(await field.getAttribute('max'), option.most === null ? null : String(option.most), option.name);
    }
    await numbers(page);
    await page.getByLabel('Branches', { exact: true }).fill('100000');
    await ask(page);
    assert.equal(await page.locator('input:invalid').count(), 1);
    await page.finish();
  });

  it('of a busy server say when to try again', async () => {
    const page = await openPage(browser, server.url, { expected: [/429/] });
    await page.route('**/v1/trees', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'Retry-After': '3' },
        body: '{"error":{"message":"the queue is full"}}',
      }),
    );
    await ask(page);
    await page.locator('.error', { hasText: 'The server is busy with other questions. Try again in 3 s.' }).waitFor();
    await page.finish();
  });
});

describe('a server with a key', () => {
  let locked;
  before(async () => (locked = await startServer('--api-key', 'sesame')));
  after(() => locked.stop());

  const giveKey = async (page, key) => {
    await page.getByLabel('API key', { exact: true }).fill(key);
    await page.getByRole('button', { name: 'Use this key' }).click();
  };
  /** Which prompts the browser was asked to open for what the page itself asked for. */
  const challenges = (page) => {
    const seen = [];
    page.on('response', (response) => {
      if (response.status() === 401 && response.url().includes('/v1/')) {
        seen.push(response.headers()['www-authenticate']?.split(' ')[0]);
      }
    });
    return seen;
  };

  it('lets in who gives it as the password', async () => {
    const page = await openPage(browser, locked.url, { httpCredentials: { username: 'any', password: 'sesame' } });
    const seen = challenges(page);
    await ask(page);
    await ended(page);
    assert.match(await page.locator('.answer .hint').textContent(), /agree|finished/);
    assert.deepEqual(seen, []);
    assert.equal(await page.locator('dialog').count(), 0);
    await page.finish();
  });

  it('asks for it in the page when a request is refused, and the tab keeps it', async () => {
    const answer = await fetch(`${locked.url}v1/chat/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer sesame' },
      body: JSON.stringify({ messages: [{ role: 'user', content: kQuestion }] }),
    });
    const { id } = await answer.json();
    // The page is there without its browser knowing a password: only what it asks for is refused.
    const door = await startDoor(locked.port, 'sesame');
    const page = await openPage(browser, 'about:blank', { expected: [/401/, /^asked http:/] });
    const seen = challenges(page);
    await page.goto(`${door.url}#run=${id}`);
    await giveKey(page, 'wrong');
    await page.locator('dialog .error', { hasText: 'did not accept that key' }).waitFor();
    assert.deepEqual(await accessibilityProblems(page), []);
    await giveKey(page, 'sesame');
    await ended(page); // the run that the address names
    assert.equal(await runId(page), id);
    assert.ok(seen.length > 0 && seen.every((scheme) => scheme === 'Bearer'), `${seen}`);
    await ask(page);
    await ended(page);
    await page.reload();
    await ended(page);
    assert.equal(await page.locator('dialog').count(), 0);
    door.stop();
    await page.finish();
  });

  it('is asked again when it has another', async () => {
    const first = await startServer('--api-key', 'sesame');
    const page = await openPage(browser, first.url, {
      expected: [kLost, /401/],
      httpCredentials: { username: 'any', password: 'sesame' },
    });
    await ready(page);
    const seen = challenges(page);
    await first.stop();
    await page.getByText('The server cannot be reached').first().waitFor();
    const second = await startServer('--port', String(first.port), '--api-key', 'barley');
    await giveKey(page, 'barley');
    await ask(page);
    await ended(page);
    assert.ok(seen.length > 0 && seen.every((scheme) => scheme === 'Bearer'), `${seen}`);
    await page.finish();
    await second.stop();
  });
});

describe('runs that are not shown', () => {
  it('leave the connections of the browser to the one that is', async () => {
    const stop = new AbortController();
    const start = async () => {
      const response = await fetch(`${slow.url}v1/chat/completions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          messages: [{ role: 'user', content: kQuestion }],
          stream: true,
          dts: { method: 'dts-stable', tau_v: 0, tau_h: 100, votes: 1000, max_branches: 2 },
        }),
        signal: stop.signal,
      });
      response.text().catch(() => undefined);
      return response.headers.get('X-Request-Id');
    };
    const ids = await Promise.all(Array.from({ length: 7 }, start));
    const page = await openPage(browser, `${slow.url}#run=${ids[0]}`);
    for (const id of ids) {
      await page.evaluate((run) => (location.hash = `#run=${run}`), id);
      await page.waitForFunction((run) => location.hash === `#run=${run}`, id);
      await page.locator('.question', { hasText: 'Mara has 87 plates' }).waitFor();
    }
    for (let open = Infinity; open > 1; ) {
      open = await metric(slow.url.slice(0, -1), 'dts_event_streams');
    }
    stop.abort();
    await ended(page);
    // A question is taken and its events come; how long its answer takes is the engine's business.
    await ask(page, 'Find the value of (66 - 36) x 8 - 14 + 86.');
    await page.locator('.question', { hasText: 'Find the value' }).waitFor();
    await page.locator('[role=treeitem]').first().waitFor({ state: 'attached' });
    await fetch(`${slow.url}v1/trees/${await runId(page)}`, { method: 'DELETE' });
    await ended(page);
    await page.finish();
  });
});

describe('what a model says', () => {
  it('is text, never markup', async () => {
    const evil = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
    const page = await openPage(browser, server.url);
    const events = [
      ['open', { id: 'x', question: evil, method: { name: evil, branch: { enabled: true, tau_v: 1.5, tau_h: 2.5 } } }],
      ['root', { segment: 0, child: 0 }],
      ['grow', { step: 1, segments: [{ segment: 0, text: [evil], entropy: [1], varentropy: [1], logprob: [-1] }] }],
      ['end', { step: 1, segment: 0, state: 'finished', length: 1, answer: evil, mean_logprob: -1 }],
      ['done', { reason: 'enough-finished', answer: evil, winner_leaf: 0, votes: [{ answer: evil, votes: 1 }] }],
    ];
    const body = events
      .map(([type, data], i) => `id: ${i + 1}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
      .join('');
    await page.route('**/v1/trees/x/events', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
    await page.evaluate(() => (location.hash = 'run=x'));
    await page.reload();
    await ended(page);
    assert.equal(await page.locator('.answer .value').textContent(), evil);
    for (const tab of ['Branches', 'Uncertainty']) await page.getByRole('tab', { name: tab }).click();
    assert.equal(await page.locator('#page img, #page script').count(), 0);
    assert.equal(await page.title(), 'Decoding Tree Sketching');
    await page.finish();
  });
});

describe('without a mouse', () => {
  it('everything can be reached', async () => {
    const page = await openPage(browser, server.url);
    await ready(page);
    for (let i = 0; i < 3 && (await page.evaluate(() => document.activeElement.tagName)) !== 'TEXTAREA'; ++i) {
      await page.keyboard.press('Tab');
    }
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TEXTAREA');
    await page.keyboard.type(kQuestion);
    await page.keyboard.press('Control+Enter');
    await ended(page);
    const role = () => page.evaluate(() => document.activeElement.getAttribute('role'));
    for (let i = 0; i < 60 && (await role()) !== 'treeitem'; ++i) await page.keyboard.press('Tab');
    assert.equal(await role(), 'treeitem');
    const level = () => page.evaluate(() => Number(document.activeElement.getAttribute('aria-level')));
    assert.equal(await level(), 1);
    await page.locator('.focus-ring').waitFor({ state: 'visible' });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await level(), 2);
    await page.keyboard.press('Enter');
    const name = (await page.evaluate(() => document.activeElement.textContent)).split(' ')[0];
    assert.match(await page.locator('.reader h3').first().textContent(), new RegExp(`Branch ${name}\\b`));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('c');
    assert.equal(await page.locator('.column').count(), 2);
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    assert.equal(await level(), 1);
    for (const key of ['+', '-', '0']) await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => document.querySelectorAll('[role=treeitem][tabindex="0"]').length), 1);
    await page.finish();
  });

  it('tabs follow the arrows', async () => {
    const page = await openPage(browser, server.url);
    await ask(page);
    await ended(page);
    await page.getByRole('tab', { name: 'Tree' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.ok(await page.getByRole('table').isVisible());
    await page.keyboard.press('ArrowRight');
    assert.match(
      await page.getByRole('img', { name: /^Entropy against varentropy/ }).getAttribute('aria-label'),
      /\d decisions?/,
    );
    await page.finish();
  });
});

describe('a screen reader', () => {
  it('hears the turns, not every token', async () => {
    const page = await openPage(browser, server.url);
    await ready(page);
    await page.evaluate(() => {
      globalThis.heard = [];
      const status = document.querySelector('[role=status]');
      new MutationObserver(() => globalThis.heard.push(status.textContent)).observe(status, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
    await ask(page);
    await ended(page);
    await page.waitForFunction(() => globalThis.heard.some((words) => words.startsWith('The answer is')));
    // Progress comes by the clock, however slow the machine; turns come once each.
    const heard = await page.evaluate(() => globalThis.heard);
    const turns = heard.filter((words, i) => words !== heard[i - 1] && !/ grows?, \d+ finished\./.test(words));
    assert.ok(turns.length <= 4, heard.join(' | '));
    await page.finish();
  });

  for (const colorScheme of ['light', 'dark']) {
    it(`finds nothing in its way, ${colorScheme}`, async (test) => {
      const coloured = await launchBrowser({ colorScheme });
      test.after(() => coloured.close());
      const page = await openPage(coloured, server.url, { colorScheme });
      const dark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
      assert.equal(dark, colorScheme === 'dark');
      await ready(page);
      assert.deepEqual(await accessibilityProblems(page), []);
      await ask(page);
      await ended(page);
      await page.locator('.decided').first().click();
      assert.deepEqual(await accessibilityProblems(page), []);
      await page.getByLabel('Compare with').selectOption({ index: 2 });
      assert.deepEqual(await accessibilityProblems(page), []);
      for (const tab of ['Branches', 'Uncertainty']) {
        await page.getByRole('tab', { name: tab }).click();
        assert.deepEqual(await accessibilityProblems(page), []);
      }
      await page.finish();
    });
  }
});

describe('on a phone', () => {
  const phone = { viewport: { width: 375, height: 700 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

  it('nothing is wider than the screen', async () => {
    const page = await openPage(browser, server.url, phone);
    assert.equal(await pageWidth(page), 375);
    await page.getByText('How widely it searches').click();
    assert.equal(await pageWidth(page), 375);
    await ask(page);
    await ended(page);
    for (const tab of ['Branches', 'Uncertainty', 'Tree']) {
      await page.getByRole('tab', { name: tab }).click();
      assert.equal(await pageWidth(page), 375);
    }
    await page.getByLabel('Compare with').selectOption({ index: 2 });
    assert.equal(await pageWidth(page), 375);
    assert.deepEqual(await accessibilityProblems(page), []);
    await page.finish();
  });

  it('a tap reads a branch', async () => {
    const page = await openPage(browser, server.url, { ...phone, reducedMotion: 'reduce' });
    await ask(page);
    await ended(page);
    await finishedDrawn(page);
    const title = page.locator('.reader h3');
    const before = await title.textContent();
    const { height } = await page.locator('.canvas-box').boundingBox();
    for (let y = height - 30; y > height / 2 && (await title.textContent()) === before; y -= 6) {
      await tap(page.locator('.canvas-box canvas'), { position: { x: 200, y } });
    }
    assert.notEqual(await title.textContent(), before);
    await page.finish();
  });
});

describe('without motion', () => {
  it('the tree is drawn all the same', async (test) => {
    const still = await launchBrowser({ reducedMotion: 'reduce' });
    test.after(() => still.close());
    const page = await openPage(still, server.url, { reducedMotion: 'reduce' });
    assert.ok(await page.evaluate(() => matchMedia('(prefers-reduced-motion: reduce)').matches));
    await ask(page);
    await ended(page);
    assert.equal(await label(page), 'Answer');
    await finishedDrawn(page);
    await page.finish();
  });
});
