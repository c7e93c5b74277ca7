/** What a person does on the page beyond one question: examples, lanes, conversations, formulas, leaving, replaying. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
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
  startServer,
  startSlowServer,
  stopServers,
} from './support.mjs';

const kQuestion = 'Find the value of (66 - 36) x 8 - 14 + 86.';
const kPhone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

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

const endedAll = (page, count) =>
  page.waitForFunction(
    (n) =>
      [...document.querySelectorAll('.answer .label')].filter((label) => label.textContent === 'Answer').length === n,
    count,
  );

const ask = (page, question = kQuestion) => askPage(page, question);

/** Starts a run that goes on until it is cancelled; gives its id. */
async function startLong(tokens = 500) {
  const response = await fetch(`${slow.url}v1/trees`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      messages: [{ role: 'user', content: kQuestion }],
      max_tokens: tokens,
      dts: { method: 'dts-stable', tau_v: 0, tau_h: 100, votes: 1000, max_branches: 96 },
    }),
  });
  assert.equal(response.status, 202);
  return (await response.json()).id;
}
const stateOf = async (id) => {
  const { data } = await (await fetch(`${slow.url}v1/trees`)).json();
  return data.find((entry) => entry.id === id)?.state;
};
const cancel = (id) => fetch(`${slow.url}v1/trees/${id}`, { method: 'DELETE' });

/** A run that was never decoded: the page is told these events of it. */
async function pretend(page, id, answer, text) {
  const events = [
    ['open', { id, question: 'What is it?', method: { name: 'dts-stable', branch: { enabled: true } } }],
    ['root', { segment: 0, child: 0 }],
    ['grow', { step: 1, segments: [{ segment: 0, text: [text], entropy: [1], varentropy: [1], logprob: [-1] }] }],
    ['end', { step: 1, segment: 0, state: 'finished', length: 1, answer, mean_logprob: -1 }],
    ['done', { reason: 'enough-finished', answer, winner_leaf: 0, votes: [{ answer, votes: 1 }] }],
  ];
  const body = events
    .map(([type, data], i) => `id: ${i + 1}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
    .join('');
  await page.route(`**/v1/trees/${id}/events`, (route) => route.fulfill({ contentType: 'text/event-stream', body }));
  await page.evaluate((run) => (location.hash = `run=${run}`), id);
  await page.reload();
  await ended(page);
}

describe('an example', () => {
  it('shows what the tree gains: plain decoding is wrong beside it', async () => {
    const page = await openPage(browser, server.url);
    await page.locator('.card').first().click();
    await endedAll(page, 2);
    const lanes = await page.locator('.lane').evaluateAll((list) =>
      list.map((lane) => ({
        method: lane.querySelector('h3').textContent,
        verdict: lane.querySelector('.right-or-wrong').textContent.trim(),
        mark: lane.querySelector('.value svg').getAttribute('class'),
      })),
    );
    assert.deepEqual(
      lanes.map(({ method, verdict }) => [method, verdict]),
      [
        ['standard', '✗ wrong'],
        ['dts-stable', '✓ right'],
      ],
    );
    assert.notEqual(lanes[0].mark, lanes[1].mark); // two answers, two colours
    // In full the answer keeps its colour, and so it does after a reload.
    await page.getByRole('button', { name: 'Open dts-stable in full' }).click();
    assert.equal(await page.locator('.value svg').getAttribute('class'), lanes[1].mark);
    await page.reload();
    await ended(page);
    assert.equal(await page.locator('.value svg').getAttribute('class'), lanes[1].mark);
    await page.getByRole('button', { name: 'All 2 side by side' }).click();
    await endedAll(page, 2);
    assert.deepEqual(
      await page.locator('.lane .value svg').evaluateAll((list) => list.map((mark) => mark.getAttribute('class'))),
      lanes.map(({ mark }) => mark),
    );
    await page.finish();
  });

  it('of each kind is there, and the form is below on a phone', async () => {
    const page = await openPage(browser, server.url, kPhone);
    await page.waitForSelector('.card');
    assert.ok((await page.locator('.card').count()) >= 4);
    assert.equal(await pageWidth(page), 390);
    const [card, form] = await Promise.all(
      [page.locator('.card').first(), page.locator('form')].map((l) => l.boundingBox()),
    );
    assert.ok(card.y + card.height < 844, 'the first card is in sight');
    assert.ok(form.y > card.y);
    await page.locator('.card').first().click();
    await endedAll(page, 2);
    assert.equal(await pageWidth(page), 390);
    assert.deepEqual(await accessibilityProblems(page), []);
    // The tree of a run is in sight without scrolling past a form.
    await page.getByRole('button', { name: 'Open dts-stable in full' }).click();
    await page.waitForSelector('.tree-panel canvas');
    const canvas = await page.locator('.tree-panel canvas').boundingBox();
    assert.ok((await page.locator('form').boundingBox()).y > canvas.y);
    assert.equal(await page.getByText('Ctrl+Enter').count(), 0);
    await page.finish();
  });
});

describe('several questions', () => {
  it('are answered in lanes, which the address names', async () => {
    const page = await openPage(browser, server.url);
    await ready(page);
    await page.getByRole('button', { name: '+ another question' }).click();
    await page.getByLabel('Question 1', { exact: true }).fill('What is (47 + 82) x 2 + 49 + 53?');
    await page.getByLabel('Question 2', { exact: true }).fill('Work out (62 + 26) x 4 + 39 + 77.');
    await page.getByLabel('Beside it').selectOption('standard');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await endedAll(page, 4);
    assert.equal(await page.locator('.lane-group').count(), 2);
    const ids = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('runs').split(',');
    assert.equal(ids.length, 4);
    const seeds = await Promise.all(
      ids.map(async (id) => (await (await fetch(`${server.url}v1/trees/${id}`)).json()).seed),
    );
    assert.equal(new Set(seeds).size, 1);
    assert.equal(await page.locator('.history > .entries button').count(), 1);
    assert.deepEqual(await accessibilityProblems(page), []);
    // Whoever has the address sees the same.
    const marks = (view) =>
      view.locator('.lane .value svg').evaluateAll((list) => list.map((mark) => mark.getAttribute('class')));
    const headings = (view) => view.locator('.lane-group h2').allTextContents();
    const other = await openPage(browser, page.url()); // in a context of its own: nothing was asked there
    await endedAll(other, 4);
    assert.deepEqual(await headings(other), await headings(page));
    assert.deepEqual(await marks(other), await marks(page));
    await other.finish();
    await page.finish();
  });

  it('are all shown, however many an address names', async () => {
    const ids = [];
    for (let seed = 0; seed < 16; ++seed) {
      const response = await fetch(`${server.url}v1/chat/completions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          messages: [{ role: 'user', content: kQuestion }],
          max_tokens: 8,
          seed,
          dts: { method: 'standard' },
        }),
      });
      ids.push((await response.json()).id);
    }
    const page = await openPage(browser, `${server.url}#runs=${ids.join(',')}`);
    await endedAll(page, ids.length);
    assert.equal(await page.locator('.lane-group').count(), 1);
    await page.finish();
  });
});

describe('a conversation', () => {
  it('carries the instructions and what was said', async () => {
    const page = await openPage(browser, server.url);
    await ready(page);
    await page.evaluate(() => {
      globalThis.sent = [];
      const { fetch } = globalThis;
      globalThis.fetch = (path, init) => {
        if (init.method === 'POST') globalThis.sent.push(JSON.parse(init.body).messages);
        return fetch(path, init);
      };
    });
    await page.getByText('Instructions for the model').click();
    await page.getByLabel('System prompt').fill('Answer with a number.');
    await ask(page);
    await ended(page);
    await page.getByLabel('Go on with this conversation').check();
    await ask(page, 'What is 14 + (25 + 23) x 4 + 52 x 2?');
    await page.waitForFunction(() => document.querySelector('.question')?.textContent.startsWith('What is 14'));
    await ended(page);
    const sent = await page.evaluate(() => globalThis.sent);
    assert.deepEqual(sent[0], [
      { role: 'system', content: 'Answer with a number.' },
      { role: 'user', content: kQuestion },
    ]);
    assert.deepEqual(
      sent[1].map(({ role }) => role),
      ['system', 'user', 'assistant', 'user'],
    );
    assert.match(sent[1][2].content, /The answer is/);
    assert.doesNotMatch(sent[1][2].content, /think>/);
    await page.getByText('1 earlier question, instructions').click();
    assert.equal(await page.locator('.turn').count(), 3);
    // It is still there when the page is loaded again.
    await page.reload();
    await ended(page);
    await page.getByText('1 earlier question, instructions').click();
    assert.equal(await page.locator('.turn').count(), 3);
    assert.deepEqual(await accessibilityProblems(page), []);
    await page.finish();
  });
});

describe('an answer', () => {
  it('is read as Markdown and mathematics', async () => {
    const page = await openPage(browser, server.url);
    await pretend(page, 'm', '\\frac{1}{2}', '<think>x</think>**So** $\\frac{1}{2}$:\n\n- one\n- two\n\n$$\\sqrt{x}$$');
    await page.waitForSelector('.rich math mfrac');
    assert.equal(await page.locator('.value math mfrac').count(), 1);
    const space = await page
      .locator('.rich math')
      .first()
      .evaluate((node) => node.namespaceURI);
    assert.equal(space, 'http://www.w3.org/1998/Math/MathML');
    assert.equal(await page.locator('.rich li').count(), 2);
    assert.equal(await page.locator('.rich strong').textContent(), 'So');
    assert.deepEqual(await accessibilityProblems(page), []);
    await page.finish();
  });

  it('that is hostile stays text', async () => {
    const page = await openPage(browser, server.url);
    const evil = [
      '<script>document.title="owned"</script>',
      '<img src=x onerror="document.title=\'owned\'">',
      '[press](javascript:document.title="owned")',
      '![image](https://example.org/x.png)',
      '$\\href{javascript:alert(1)}{press}$',
      '$\\htmlData{onclick=alert(1)}{press}$',
      '$\\includegraphics{https://example.org/y.png}$',
      `$${'\\frac{'.repeat(250)}x${'}{y}'.repeat(250)}$`,
      '\u202eevitarepmi \u2066side\u2069ways',
    ].join('\n\n');
    await pretend(page, 'e', '\\href{javascript:alert(1)}{x}', `<think>${evil}</think>${evil}`);
    await page.waitForSelector('.rich');
    assert.equal(
      await page.locator('#page :is(img, script, iframe, object, [href^="javascript"], [onclick], [onerror])').count(),
      0,
    );
    assert.equal(await page.title(), 'Decoding Tree Sketching');
    assert.match(await page.locator('.rich').textContent(), /<script>document\.title="owned"<\/script>/);
    assert.doesNotMatch(await page.locator('#page').textContent(), /[\u202a-\u202e\u2066-\u2069]/);
    await page.finish(); // and nothing was fetched from elsewhere
  });

  it('that is huge is shown all the same', async () => {
    const page = await openPage(browser, server.url);
    const text = `${'$x^2$ **a** [b](c) '.repeat(20000)}the end`;
    await pretend(page, 'h', 'x'.repeat(20000), text);
    await page.getByText('the end').first().waitFor({ state: 'attached' });
    assert.equal(await page.locator('.branch-text math').count(), 0);
    // A megabyte on one line, too, and the page is still there.
    await pretend(page, 'l', '1', `${'x'.repeat(1 << 20)} the end of the line`);
    await page.getByText('the end of the line').first().waitFor({ state: 'attached' });
    assert.equal(await pageWidth(page), 1366);
    await page.getByRole('tab', { name: 'Branches' }).click();
    await page.getByRole('table').waitFor();
    await page.finish();
  });
});

describe('leaving', () => {
  it('does not end a run: it is found again, by anybody who has its address', async () => {
    const page = await openPage(browser, slow.url);
    await ready(page);
    await page.getByLabel('Question', { exact: true }).fill(kQuestion);
    await page.getByText('How widely it searches').click();
    await page.getByLabel('Varentropy ≥', { exact: true }).fill('0');
    await page.getByLabel('Entropy ≤', { exact: true }).fill('100');
    await page.getByLabel('Votes', { exact: true }).fill('1000');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length > 3);
    const address = page.url();
    const id = new URLSearchParams(new URL(address).hash.slice(1)).get('run');
    await page.reload();
    await page.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length > 3);
    await page.context().close(); // with its tab, and its connections
    assert.equal(await stateOf(id), 'decoding');
    const other = await openPage(browser, address);
    await other.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length > 3);
    await cancel(id);
    await ended(other);
    assert.equal(await stateOf(id), 'cancelled');
    await other.finish();
  });

  it('is not needed to see how far a long run is', async () => {
    const id = await startLong();
    const page = await openPage(browser, `${slow.url}#run=${id}`);
    const words = page.locator('.progress .figures');
    await words.waitFor();
    assert.match(await words.textContent(), /^Step [\d,]+ of at most [\d,]+/);
    await cancel(id);
    await ended(page);
    assert.equal(await page.locator('.progress').count(), 0);
    await page.finish();
  });
});

describe('a replay', () => {
  const seek = (page, share) =>
    page.getByLabel('Time').evaluate((slider, part) => {
      slider.value = String(Math.round(Number(slider.max) * part));
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }, share);

  it('goes from the first token to the last vote', async () => {
    const page = await openPage(browser, server.url);
    await ask(page);
    await ended(page);
    const votes = await page.locator('.vote-count').allTextContents();
    const branches = await page.locator('[role=treeitem]').count();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await seek(page, 0);
    await page.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length === 1);
    assert.equal(await page.locator('.answer .label').textContent(), 'Thinking');
    await seek(page, 1);
    await page.waitForFunction((n) => document.querySelectorAll('[role=treeitem]').length === n, branches);
    await ended(page);
    assert.deepEqual(await page.locator('.vote-count').allTextContents(), votes);
    // By keyboard, and heard.
    await page.getByLabel('Time').focus();
    await page.keyboard.press('Home');
    await page.waitForFunction(() =>
      /^Step 0 of \d+$/.test(document.querySelector('input[type=range]').getAttribute('aria-valuetext')),
    );
    assert.deepEqual(await accessibilityProblems(page), []);
    // At a speed that takes no time it comes to its end.
    await page.getByLabel('Speed').selectOption('2000');
    await page.getByRole('button', { name: 'Play' }).click();
    await ended(page);
    await page.getByRole('button', { name: 'Close' }).click();
    assert.equal(await page.getByLabel('Time').count(), 0);
    await page.finish();
  });

  it('is saved as a film that plays in a browser', async () => {
    const page = await openPage(browser, server.url);
    await ask(page);
    await ended(page);
    const segments = await page.locator('[role=treeitem]').count();
    await page.getByRole('button', { name: 'Replay' }).click();
    const film = await savedBy(page, 'Save as film');
    const other = await openPage(browser, 'about:blank');
    const playing = await other.evaluate((text) => {
      document.documentElement.innerHTML = '<body></body>';
      document.body.append(
        document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true),
      );
      const lines = [...document.querySelectorAll('.grows')];
      const animations = document.getAnimations();
      const shown = (seconds) => {
        for (const animation of animations) {
          animation.pause();
          animation.currentTime = seconds * 1000;
        }
        return [...document.querySelectorAll('.film:not(.grows)')].filter(
          (node) => getComputedStyle(node).opacity === '1',
        ).length;
      };
      const total = animations[0].effect.getComputedTiming().duration / 1000;
      return { lines: lines.length, begin: shown(0), middle: shown(total / 3), end: shown(total * 0.999) };
    }, film);
    assert.equal(playing.lines, segments);
    assert.equal(playing.begin, 0);
    assert.ok(playing.begin < playing.middle && playing.middle < playing.end, JSON.stringify(playing));
    await other.finish();
    await page.finish();
  });
});

for (const colorScheme of ['light', 'dark']) {
  describe(`in ${colorScheme}`, () => {
    let coloured;
    before(async () => (coloured = await launchBrowser({ colorScheme })));
    after(() => coloured?.close());

    for (const [place, options] of [
      ['a desk', { viewport: { width: 1400, height: 900 } }],
      ['a phone', kPhone],
    ]) {
      it(`on ${place} everything is in sight and can be read`, async () => {
        const page = await openPage(coloured, server.url, { ...options, colorScheme });
        const dark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
        assert.equal(dark, colorScheme === 'dark');
        const check = async (what) => {
          assert.equal(await pageWidth(page), options.viewport.width, what);
          assert.deepEqual(await accessibilityProblems(page), [], what);
        };
        await page.waitForSelector('.card');
        await check('the opening');
        await page.locator('.card').first().click();
        await endedAll(page, 2);
        await check('lanes');
        await page.getByRole('button', { name: 'Open dts-stable in full' }).click();
        await ended(page);
        await finishedDrawn(page);
        await check('a tree');
        for (const tab of ['Branches', 'Uncertainty', 'Tree']) {
          await page.getByRole('tab', { name: tab }).click();
          await check(tab);
        }
        await page.getByRole('button', { name: 'Replay' }).click();
        await page.getByRole('button', { name: 'Pause' }).click();
        await check('a replay');
        await page.finish();
      });
    }
  });
}
