/** What `dts tree --format html` writes, opened from the disk in a browser. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { syntheticTree } from '../../web/dev/synthetic.mjs';
import {
  accessibilityProblems,
  asPrinted,
  finishedDrawn,
  kPolicy,
  launchBrowser,
  openPage,
  openWithoutScripts,
  pageWidth,
  savedBy,
} from './support.mjs';

let browser;
let folder;
let tree; // what the program saved
let url; // its page
before(async () => {
  browser = await launchBrowser();
  folder = mkdtempSync(join(tmpdir(), 'dts-viewer-'));
  const saved = join(folder, 'run.json');
  execFileSync(process.env.DTS_PROGRAM, ['run', '--example', '1', '--quiet', '--save-tree', saved]);
  tree = JSON.parse(readFileSync(saved, 'utf8'));
  url = draw('run', tree);
});
after(async () => {
  await browser?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

/** The address of the page of `file`, a tree. */
function draw(name, file) {
  const [json, html] = [join(folder, `${name}.json`), join(folder, `${name}.html`)];
  writeFileSync(json, JSON.stringify(file));
  execFileSync(process.env.DTS_PROGRAM, ['tree', json, '--format', 'html', '-o', html]);
  return pathToFileURL(html).href;
}

/** The text of the trajectory that ends with segment `leaf`. */
function textOf(file, leaf) {
  const { parent, text } = file.segments[leaf];
  return (parent === null ? '' : textOf(file, parent)) + text;
}

const letters = (text) => text.replace(/<\/?think>|\s+/g, '');
const leavesOf = ({ segments }) => segments.filter(({ id }) => !segments.some(({ parent }) => parent === id));

describe('a saved tree', () => {
  it('is drawn, with its answer and its votes', async () => {
    const page = await openPage(browser, url);
    assert.equal(await page.locator('.answer .value').textContent(), tree.answer);
    assert.deepEqual(
      (await page.locator('.vote-count').allTextContents()).map((text) => Number.parseInt(text, 10)),
      tree.votes.map(({ votes }) => votes),
    );
    assert.equal(await page.locator('[role=treeitem]').count(), tree.segments.length);
    await finishedDrawn(page);
    assert.ok(await page.locator('.plain').first().isHidden());
    assert.match(await page.title(), new RegExp(`^${tree.question.slice(0, 30)}`));
    await page.finish();
  });

  it('opens at the trajectory that was returned, and lets all others be read', async () => {
    const page = await openPage(browser, url);
    await page.getByLabel('Format the answer').uncheck();
    const text = async () => letters((await page.locator('.reader .text-block').allTextContents()).join(''));
    assert.equal(await text(), letters(textOf(tree, tree.best_leaf)));
    await page.getByRole('tab', { name: 'Branches' }).click();
    const leaves = leavesOf(tree);
    assert.equal(await page.locator('.table-box tbody tr:not(.group)').count(), leaves.length);
    for (const { id } of leaves) {
      await page.getByRole('button', { name: String(id), exact: true }).click();
      await page.locator('.reader h3', { hasText: `Branch ${id}` }).waitFor();
      assert.equal(await text(), letters(textOf(tree, id)));
    }
    await page.getByLabel(`Compare with ${leaves[0].id}`, { exact: true }).check();
    assert.equal(await page.locator('.column').count(), 2);
    await page.getByRole('tab', { name: 'Uncertainty' }).click();
    const decisions = tree.segments.filter(({ state }) => state === 'split');
    assert.equal(await page.locator('.decisions tbody tr:not(.group)').count(), decisions.length);
    await page.finish();
  });

  it('says what it was made with', async () => {
    const page = await openPage(browser, url);
    await page.getByRole('tab', { name: 'Details' }).click();
    const details = await page.getByRole('region', { name: 'Details' }).textContent();
    for (const words of ['tau_v (varentropy)', tree.method.name, tree.model, 'steps', tree.prompt.text.trim()]) {
      assert.ok(details.includes(words), words);
    }
    await page.getByRole('tab', { name: 'Tree' }).click();
    await page.getByRole('tab', { name: 'Details' }).click();
    assert.equal(await page.getByRole('region', { name: 'Details' }).textContent(), details);
    await page.finish();
  });

  it('can be saved again: the same file', async () => {
    const page = await openPage(browser, url);
    assert.deepEqual(JSON.parse(await savedBy(page, 'Save JSON')), tree);
    assert.match(await savedBy(page, 'Save SVG'), /^<svg .*<\/svg>\n$/s);
    await page.finish();
  });

  it('is printed as a document', async () => {
    const page = await openPage(browser, url);
    await asPrinted(page);
    assert.ok(await page.locator('.viewer').isHidden());
    assert.ok(await page.locator('body > .plain h1').isVisible());
    await page.finish();
  });

  it('that was still growing is shown as it was', async () => {
    const leaves = new Set(leavesOf(tree).map(({ id }) => id));
    const growing = {
      ...tree,
      reason: 'running',
      winner: null,
      best_leaf: null,
      answer: null,
      votes: [],
      finished: [],
      segments: tree.segments.map((segment) => ({
        ...segment,
        state: leaves.has(segment.id) ? 'live' : segment.state,
      })),
    };
    const page = await openPage(browser, draw('growing', growing));
    assert.equal(await page.locator('[role=treeitem]').filter({ hasText: 'growing' }).count(), leaves.size);
    assert.match(await page.locator('.answer .hint').textContent(), /Still running when it was saved/);
    await page.finish();
  });

  it('may be one of 48 branches with 4,000 tokens each', async () => {
    const large = syntheticTree();
    const page = await openPage(browser, draw('large', large));
    assert.equal(await page.locator('[role=treeitem]').count(), large.segments.length);
    const leaf = leavesOf(large).at(-1).id;
    await page.getByRole('tab', { name: 'Branches' }).click();
    await page.getByRole('button', { name: String(leaf), exact: true }).click();
    await page.locator('.reader h3', { hasText: `Branch ${leaf}` }).waitFor();
    assert.match(await page.locator('.reader .branch-title .hint').textContent(), /4,000 tokens/);
    await page.finish();
  });
});

describe('what a model wrote', () => {
  const kEvil =
    '</script><script>document.title="owned"</script><!--<script>\'"><img src=x onerror="document.title=\'owned\'">' +
    '</title><style>*{display:none}</style></main>\u202e\u001b[31m\u2028&lt;{{tree}}';

  /** The tree with that in every text of it. */
  function hostileTree() {
    const bytes = Buffer.byteLength(kEvil);
    return {
      ...tree,
      model: kEvil,
      question: kEvil,
      prompt: { ...tree.prompt, text: kEvil },
      method: { ...tree.method, name: kEvil },
      votes: tree.votes.map((vote) => ({ ...vote, answer: kEvil + vote.answer })),
      finished: tree.finished.map((trace) => ({ ...trace, answer: kEvil + trace.answer })),
      segments: tree.segments.map((segment) => ({
        ...segment,
        text: kEvil + segment.text,
        piece_bytes: segment.piece_bytes.map((size, i) => (i === 0 ? size + bytes : size)),
      })),
    };
  }
  const kShown = kEvil.replace('\u202e', '\ufffd').replace('\u001b', '␛').replace('\u2028', '\ufffd');

  it('is text, never markup', async () => {
    const page = await openPage(browser, draw('hostile', hostileTree()));
    assert.equal(await page.locator('.answer .value').textContent(), kShown + tree.answer);
    assert.equal(await page.locator('.question').textContent(), kShown);
    assert.ok((await page.locator('.reader .branch-text').textContent()).includes(kShown));
    for (const tab of ['Branches', 'Uncertainty', 'Details', 'Tree']) {
      await page.getByRole('tab', { name: tab }).click();
      assert.equal(await page.locator('img').count(), 0);
    }
    assert.equal(await page.locator('script').count(), 2);
    assert.equal(await page.locator('style').count(), 1);
    assert.match(await page.title(), /^<\/script><script>/);
    assert.deepEqual(
      JSON.parse(await savedBy(page, 'Save JSON')).segments.map(({ text }) => text),
      hostileTree().segments.map(({ text }) => text),
    );
    await page.finish();
  });

  it('could not run if it were markup', async () => {
    const page = await openPage(browser, url, { expected: [kPolicy] });
    const title = await page.title();
    const styles = await page.evaluate(() => {
      document.body.insertAdjacentHTML('beforeend', '<p id="evil" style="color: red" onclick="document.title=1">x</p>');
      for (const tag of ['script', 'style']) {
        const element = document.createElement(tag);
        element.textContent = tag === 'script' ? 'document.title = "owned"' : '#evil { color: red }';
        document.body.append(element);
      }
      const evil = document.getElementById('evil');
      evil.click();
      return getComputedStyle(evil).color;
    });
    assert.equal(await page.title(), title);
    assert.notEqual(styles, 'rgb(255, 0, 0)');
    await page.finish();
  });

  it('reads without scripts, too', async () => {
    const page = await openWithoutScripts(browser, draw('hostile', hostileTree()));
    assert.equal(await page.locator('h1').textContent(), kShown);
    assert.equal(await page.locator('img').count(), 0);
    assert.ok(await page.locator('.plain').isVisible());
    await page.finish();
  });
});

describe('without scripts', () => {
  it('the tree is a document', async () => {
    const page = await openWithoutScripts(browser, url);
    assert.ok(await page.getByRole('heading', { name: tree.question }).isVisible());
    assert.ok((await page.locator('.outcome').textContent()).startsWith(`Answer ${tree.answer}`));
    const picture = await page.locator('.picture svg').boundingBox();
    assert.ok(picture.width > 700 && picture.height > 200);
    assert.equal(await page.locator('.picture .segment').count(), tree.segments.length);
    for (const { id, text } of tree.segments) {
      const details = page.locator('details').filter({ hasText: new RegExp(`^Segment ${id}\\b`) });
      await details.locator('summary').click();
      assert.ok(await details.locator('pre').isVisible());
      assert.equal(await details.locator('pre').textContent(), text);
    }
    assert.ok(await page.getByRole('heading', { name: 'Settings' }).isVisible());
    await page.finish();
  });

  it('it shows also where scripts are only kept from running', async () => {
    const html = readFileSync(new URL(url), 'utf8').replace(/<script type="module">.*?<\/script>/s, '');
    const path = join(folder, 'blocked.html');
    writeFileSync(path, html);
    const page = await openPage(browser, pathToFileURL(path).href);
    await page.getByRole('heading', { name: tree.question }).waitFor();
    assert.deepEqual(await accessibilityProblems(page), []);
    await page.finish();
  });
});

describe('everybody', () => {
  for (const colorScheme of ['light', 'dark']) {
    it(`finds nothing in the way, ${colorScheme}`, async (test) => {
      const coloured = await launchBrowser({ colorScheme });
      test.after(() => coloured.close());
      const page = await openPage(coloured, url, { colorScheme });
      const dark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
      assert.equal(dark, colorScheme === 'dark');
      assert.deepEqual(await accessibilityProblems(page), []);
      for (const tab of ['Branches', 'Uncertainty', 'Details']) {
        await page.getByRole('tab', { name: tab }).click();
        assert.deepEqual(await accessibilityProblems(page), []);
      }
      await page.finish();
    });
  }

  it('with a phone sees all of it', async () => {
    const phone = { viewport: { width: 375, height: 700 }, isMobile: true, hasTouch: true };
    for (const scripts of [true, false]) {
      const page = scripts ? await openPage(browser, url, phone) : await openWithoutScripts(browser, url, phone);
      assert.equal(await pageWidth(page), 375);
      if (scripts) {
        for (const tab of ['Branches', 'Uncertainty', 'Details', 'Tree']) {
          await page.getByRole('tab', { name: tab }).click();
          assert.equal(await pageWidth(page), 375);
        }
      }
      await page.finish();
    }
  });
});
