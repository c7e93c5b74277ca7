import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerColours } from '../src/draw/answer_colours';
import { hitTest } from '../src/draw/hit';
import { placeSegment } from '../src/draw/scene';
import { escapeXml } from '../src/draw/svg_pen';
import type { Theme } from '../src/draw/theme';
import { treeSvg } from '../src/draw/tree_svg';
import { formatShare, visibleToken } from '../src/draw/words';
import { layoutRows } from '../src/layout/rows';
import { layoutSpans } from '../src/layout/spans';
import { fitView } from '../src/layout/view';
import { treeFromFile } from '../src/model/tree_file';
import { syntheticTree } from '../dev/synthetic.mjs';
import { treeFiles } from './support';

const state = { live: '#1', split: '#2', finished: '#3', exhausted: '#4', retired: '#5', cut: '#6' };
const theme: Theme = {
  paper: 'white',
  ink: 'black',
  dim: 'grey',
  rule: '#ccc',
  halo: 'gold',
  mark: 'tan',
  markEdge: 'brown',
  sans: '"A", sans-serif',
  mono: 'monospace',
  state,
  answer: ({ light }) => light,
};

describe('pointing', () => {
  it('finds the leaf whose end is pointed at', () => {
    fc.assert(
      fc.property(treeFiles, (file) => {
        const tree = treeFromFile(file);
        const [rows, spans] = [layoutRows(tree), layoutSpans(tree, 'tokens')];
        const size = { width: 1000, height: Math.max(500, rows.count * 30) };
        const view = fitView(spans.width, rows.count, size, { left: 10, right: 100, top: 10, bottom: 10 });
        const scene = {
          rowOf: (segment: Parameters<typeof rows.of.get>[0]) => rows.of.get(segment)!,
          spans: spans.of,
          view,
        };
        for (const leaf of tree.leaves()) {
          const { x1, y } = placeSegment(scene, leaf);
          expect(hitTest(scene, x1 + 3, y)?.segment).toBe(leaf);
        }
        expect(hitTest(scene, -500, -500)).toBeNull();
      }),
      { numRuns: 20 },
    );
  });
});

describe('the SVG file', () => {
  it('has no markup but its own, whatever a model says', () => {
    const file = syntheticTree({ branches: 3, tokens: 60 });
    const evil = '"><script>alert(1)</script>&\u0000\ud800';
    for (const segment of file.segments) {
      segment.text = evil;
      segment.piece_bytes = [new TextEncoder().encode(evil).length];
    }
    file.question = evil;
    for (const trace of file.finished) trace.answer = evil;
    const svg = treeSvg(treeFromFile(file), theme, new AnswerColours());
    expect(svg).not.toContain('<script');
    expect(svg).not.toContain('\u0000');
    expect(svg.match(/<svg/g)).toHaveLength(1);
    for (const tag of svg.matchAll(/<(\/?)(\w+)/g))
      expect(['svg', 'title', 'rect', 'path', 'polygon', 'circle', 'text']).toContain(tag[2]);
  });

  it('escapes all that XML must not see', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeXml(text).replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toMatch(/[&<>"']/);
      }),
    );
  });
});

describe('words', () => {
  it('show tokens that are white space', () => {
    expect(visibleToken('\n')).toBe('⏎');
    expect(visibleToken('  ')).toBe('␣␣');
    expect(visibleToken('')).toBe('∅');
    expect(visibleToken(' so')).toBe('so');
  });

  it('round shares to what they tell', () => {
    expect([0.943, 0.0995, 0.052, 0.0012, 1e-9, 1, NaN].map(formatShare)).toEqual([
      '94%',
      '10%',
      '5.2%',
      '0.1%',
      '<0.1%',
      '100%',
      '–',
    ]);
  });
});
