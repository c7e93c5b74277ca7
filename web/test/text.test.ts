import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { segmentsText, textRuns, textTail, tokenContext } from '../src/model/branch_text';
import { comparePaths } from '../src/model/compare';
import { printable } from '../src/model/printable';
import { pathTo, Segment } from '../src/model/tree';
import { treeFromFile } from '../src/model/tree_file';
import { chunkRuns } from '../src/ui/chunks';
import { treeFiles } from './support';

/** A path of segments with these tokens. */
function path(...segments: string[][]): Segment[] {
  let parent: Segment | null = null;
  let start = 0;
  return segments.map((pieces, i) => {
    const segment = new Segment(i, parent, 0, start);
    for (const piece of pieces) segment.push(piece, 0, 0, 0);
    start += pieces.length;
    parent = segment;
    return segment;
  });
}

const plain = (segments: Segment[], opensThinking = false) =>
  textRuns(segments, opensThinking).map(({ text, part, decided }) => [text, part, decided?.id ?? null]);

describe('the text of a branch', () => {
  it('has thinking and answer apart, without the tags', () => {
    expect(plain(path(['<think>', 'so', '</think>', 'yes']))).toEqual([
      ['so', 'thinking', null],
      ['yes', 'answer', null],
    ]);
  });

  it('finds tags that several tokens spell, across a decision', () => {
    expect(plain(path(['<th', 'ink>a', '</'], ['think', '>', 'b']))).toEqual([
      ['a', 'thinking', null],
      ['b', 'answer', null],
    ]);
  });

  it('begins inside the thinking where the prompt opened it', () => {
    expect(plain(path(['a', '</think>', 'b']), true)).toEqual([
      ['a', 'thinking', null],
      ['b', 'answer', null],
    ]);
    expect(plain(path(['a']), true)).toEqual([['a', 'thinking', null]]);
  });

  it('takes a tag in the answer for what it is', () => {
    expect(plain(path(['a </think> b']))).toEqual([['a </think> b', 'answer', null]]);
  });

  it('marks the first token of every child', () => {
    expect(plain(path(['a', 'b'], ['c', 'd'], ['e']))).toEqual([
      ['ab', 'answer', null],
      ['c', 'answer', 1],
      ['d', 'answer', null],
      ['e', 'answer', 2],
    ]);
  });

  it('loses and doubles nothing', () => {
    fc.assert(
      fc.property(treeFiles, (file) => {
        const tree = treeFromFile(file);
        for (const leaf of tree.leaves()) {
          const runs = textRuns(pathTo(leaf), true);
          expect(runs.map(({ text }) => text).join('')).toBe(segmentsText(pathTo(leaf)));
          expect(runs.every(({ text }) => text !== '')).toBe(true);
          expect(runs.filter(({ decided }) => decided !== null).length).toBe(pathTo(leaf).length - 1);
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('blocks of text', () => {
  const texts = fc.array(
    fc.record({
      text: fc.string({ unit: fc.constantFrom('a', ' ', '\n', 'word '), minLength: 1, maxLength: 3000 }),
      part: fc.constantFrom('thinking' as const, 'answer' as const),
    }),
  );

  it('hold all text but white space around the parts, in order', () => {
    fc.assert(
      fc.property(texts, (list) => {
        const runs = list.map((run) => ({ ...run, decided: null }));
        const joined = chunkRuns(runs)
          .flatMap(({ runs: inside }) => inside.map(({ text }) => text))
          .join('');
        const expected = runs.map(({ text }) => text).join('');
        expect(joined.replace(/\s+/g, '')).toBe(expected.replace(/\s+/g, ''));
        expect(joined.length).toBeLessThanOrEqual(expected.length);
      }),
      { numRuns: 50 },
    );
  });

  it('are short enough to be laid out one by one', () => {
    const runs = [{ text: 'word '.repeat(10000), part: 'answer' as const, decided: null }];
    for (const block of chunkRuns(runs)) expect(block.runs[0]!.text.length).toBeLessThan(4100);
  });
});

describe('a token in its context', () => {
  it('reaches over decisions', () => {
    const [first, second] = path(['a', 'b', 'c'], ['d', 'e', 'f']);
    expect(tokenContext(second!, 1, 3)).toEqual(['bcd', 'e', 'f']);
    expect(tokenContext(first!, 0, 3)).toEqual(['', 'a', 'bc']);
  });

  it('has a tail on one line', () => {
    const [, second] = path(['one\n', 'two '], ['</think>', '\nthree']);
    expect(textTail(second!, 8)).toBe('wo three');
  });
});

describe('two branches', () => {
  it('share what is before their parting, and all the rest is their own', () => {
    fc.assert(
      fc.property(treeFiles, fc.nat(), fc.nat(), (file, i, j) => {
        const leaves = treeFromFile(file).leaves();
        const [left, right] = [leaves[i % leaves.length]!, leaves[j % leaves.length]!];
        const parting = comparePaths(left, right);
        expect([...parting.shared, ...parting.left]).toEqual(pathTo(left));
        expect([...parting.shared, ...parting.right]).toEqual(pathTo(right));
        if (left === right) {
          expect(parting.left).toEqual([]);
          expect(parting.decision).toBeNull();
        } else {
          expect(parting.left[0]).not.toBe(parting.right[0]);
          expect(parting.left[0]!.parent).toBe(parting.right[0]!.parent);
          expect(parting.decision?.position).toBe(parting.left[0]!.start);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('text to be shown', () => {
  it('holds nothing that acts on what stands around it', () => {
    expect(printable('a\x1b[31mb\x7f')).toBe('a␛[31mb␡');
    expect(printable('a\r\nb\tc\rd')).toBe('a\nb\tc␍d');
    expect(printable('\u202ex\u2066\u200f\u0085\uffff\ud800\u{1ffff}\u2028')).toBe('\ufffdx' + '\ufffd'.repeat(7));
    const acts = /(?![\n\t])[\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udfff]/u;
    const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(units, (text) => {
        const shown = printable(text);
        expect(shown).not.toMatch(acts);
        expect(printable(shown)).toBe(shown);
      }),
    );
  });

  it('is otherwise as it was', () => {
    const ordinary = 'é中🙂 عربي \u0301\u200d <b>&amp;</b>\n';
    expect(printable(ordinary)).toBe(ordinary);
  });

  it('is what a tree holds', () => {
    const file = { segments: [{ id: 0, parent: null, state: 'finished', text: 'a\u202e\x1b', piece_bytes: [4, 1] }] };
    expect(treeFromFile(file).segments.get(0)!.pieces).toEqual(['a\ufffd', '␛']);
  });
});
