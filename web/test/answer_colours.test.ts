import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerColours, kAnswerColours, kOtherAnswer, kRightSign, kWrongSign } from '../src/draw/answer_colours';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const header = read('../../src/draw/answer_colours.h');
const sheet = read('../src/style/colours.css');

const all = [...kAnswerColours, kOtherAnswer];

type Triple = [number, number, number];

/** Linear light, 0..1. */
function linear(hex: string): Triple {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const luminance = ([r, g, b]: Triple) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** As WCAG defines it. */
function contrast(a: string, b: string): number {
  const [x, y] = [luminance(linear(a)) + 0.05, luminance(linear(b)) + 0.05];
  return Math.max(x, y) / Math.min(x, y);
}

/** What an eye without one kind of cone sees: Machado, Oliveira and Fernandes 2009, severity 1. */
const kEyes: Record<string, [Triple, Triple, Triple]> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanope: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranope: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanope: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function seenBy(eye: [Triple, Triple, Triple], [r, g, b]: Triple): Triple {
  const clamp = (value: number) => Math.min(1, Math.max(0, value));
  return eye.map((row) => clamp(row[0] * r + row[1] * g + row[2] * b)) as Triple;
}

/** OKLab, in which equal distances look equally large; 0.02 can just be told apart. */
function lab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

describe('the colours of answers', () => {
  it('are those of the other pictures', () => {
    const rows = [...header.matchAll(/\{"(\w+)", "(#\w{6})", "(#\w{6})", (\d+), "(.)", '(.)'\}/gu)];
    expect(rows.map(([, name, light, dark, , mark]) => ({ name, light, dark, mark }))).toEqual(
      all.map(({ name, light, dark, mark }) => ({ name, light, dark, mark })),
    );
    expect(header).toContain(`kRightSign = "${kRightSign}"`);
    expect(header).toContain(`kWrongSign = "${kWrongSign}"`);
  });

  it('are those of the style sheet, in light and dark', () => {
    for (const { name, light, dark } of all) {
      const values = [...sheet.matchAll(new RegExp(`--answer-${name}: (#\\w{6});`, 'g'))].map(([, value]) => value);
      expect(values).toEqual([light, dark]);
    }
  });

  it.each(['light', 'dark'] as const)('stand out from the page, %s', (scheme) => {
    const grounds = [...sheet.matchAll(/--(?:paper|ground|field): (#\w{6});/g)].map(([, value]) => value!);
    const own = scheme === 'light' ? grounds.slice(0, 3) : grounds.slice(3);
    expect(own).toHaveLength(3);
    for (const colour of all) {
      for (const ground of own) expect(contrast(colour[scheme], ground), colour.name).toBeGreaterThanOrEqual(3);
    }
  });

  it.each(['light', 'dark'] as const)('stay apart whatever the eye, %s', (scheme) => {
    for (const [kind, eye] of Object.entries(kEyes)) {
      const seen = kAnswerColours.map((colour) => lab(seenBy(eye, linear(colour[scheme]))));
      seen.forEach((a, i) =>
        seen.slice(0, i).forEach((b, j) => {
          const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
          expect(distance, `${kind}: ${kAnswerColours[i]!.name}, ${kAnswerColours[j]!.name}`).toBeGreaterThan(0.1);
        }),
      );
    }
  });

  it('can be read in a terminal, on black and on white', () => {
    const codes = [...header.matchAll(/"#\w{6}", (\d+), /g)].map(([, code]) => Number(code));
    expect(new Set(codes).size).toBe(all.length);
    for (const code of codes) {
      const steps = [0, 95, 135, 175, 215, 255];
      const cube = code - 16;
      const rgb =
        code >= 232
          ? [8 + 10 * (code - 232), 8 + 10 * (code - 232), 8 + 10 * (code - 232)]
          : [steps[Math.floor(cube / 36)]!, steps[Math.floor(cube / 6) % 6]!, steps[cube % 6]!];
      const hex = `#${rgb.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
      for (const ground of ['#000000', '#ffffff']) expect(contrast(hex, ground), hex).toBeGreaterThanOrEqual(3);
    }
  });

  it('never come alone: every one has a mark and a name of its own', () => {
    for (const key of ['name', 'mark', 'shape', 'light', 'dark'] as const) {
      expect(new Set(all.map((colour) => colour[key])).size).toBe(all.length);
    }
  });

  it('stay with their answers, whatever follows', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 2 })), fc.array(fc.string({ maxLength: 2 })), (first, later) => {
        const colours = new AnswerColours();
        const given = first.map((answer) => colours.of(answer));
        for (const answer of later) colours.of(answer);
        expect(first.map((answer) => colours.of(answer))).toEqual(given);
        const distinct = [...new Set(first.filter((answer) => answer !== ''))];
        expect(distinct.map((answer) => colours.of(answer))).toEqual(
          distinct.map((_, i) => kAnswerColours[i] ?? kOtherAnswer),
        );
      }),
    );
    expect(new AnswerColours().of(null)).toBe(kOtherAnswer);
  });

  it('are the same for a tree whatever stands beside it, and when they are read again', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12)), fc.array(fc.nat(12)), (tree, plain) => {
        const [alone, together] = [new AnswerColours(), new AnswerColours()];
        const own = [...new Set(tree)].slice(0, 3).map((answer) => `tree ${answer}`);
        for (const answer of [...new Set(plain)].slice(0, 3)) together.of(`plain ${answer}`, 'last');
        for (const answer of own) expect(together.of(answer)).toBe(alone.of(answer));
        const again = new AnswerColours(together.slots);
        for (const answer of own) expect(again.of(answer)).toBe(together.of(answer));
      }),
    );
  });

  it('do not depend on who is faster, the tree or what stands beside it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9)), fc.nat(9), fc.nat(), (tree, plain, when) => {
        const own = tree.map(String);
        const alone = new AnswerColours();
        const wanted = own.map((answer) => alone.of(answer));
        const wantedBeside = alone.of(String(plain), 'last');
        const together = new AnswerColours([], false);
        own.forEach((answer, i) => {
          if (i >= when % (own.length + 1)) together.of(String(plain), 'last');
          together.of(answer);
        });
        together.settle();
        expect(together.of(String(plain), 'last')).toBe(wantedBeside);
        expect(own.map((answer) => together.of(answer))).toEqual(wanted);
      }),
    );
  });
});
