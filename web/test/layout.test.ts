import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layoutRows } from '../src/layout/rows';
import { layoutSpans, widthOf } from '../src/layout/spans';
import { fitView, panView, revealView, zoomView } from '../src/layout/view';
import { Tree } from '../src/model/tree';
import { treeFromFile } from '../src/model/tree_file';
import { grown, told, treeFiles } from './support';

const measures = fc.constantFrom('tokens' as const, 'compact' as const);

describe('rows', () => {
  it('give every leaf its own, in the order of the tree, and parents a place amid their children', () => {
    fc.assert(
      fc.property(treeFiles, (file) => {
        const tree = treeFromFile(file);
        const rows = layoutRows(tree);
        const leaves = tree.leaves().map((leaf) => rows.of.get(leaf)!);
        leaves.forEach((row, i) => i > 0 && expect(row).toBeGreaterThanOrEqual(leaves[i - 1]! + 1 - 1e-9));
        for (const segment of tree.segments.values()) {
          const row = rows.of.get(segment)!;
          expect(row).toBeGreaterThanOrEqual(0);
          expect(row).toBeLessThanOrEqual(rows.count - 1 + 1e-9);
          if (segment.children.length === 0) continue;
          expect(row).toBeGreaterThanOrEqual(rows.of.get(segment.children[0]!)! - 1e-9);
          expect(row).toBeLessThanOrEqual(rows.of.get(segment.children.at(-1)!)! + 1e-9);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('exist for a tree at any moment', () => {
    fc.assert(
      fc.property(treeFiles, fc.nat(), (file, moment) => {
        const events = told(file, 3);
        const tree = grown(events.slice(0, moment % events.length));
        expect(layoutRows(tree).of.size).toBe(tree.segments.size);
      }),
      { numRuns: 30 },
    );
  });

  it('take no stack: a tree may be as deep as it likes', () => {
    const tree = new Tree();
    let trunk = tree.addSegment(0, null, 0, 0)!;
    for (let id = 1; id < 20000; id += 2) {
      tree.addSegment(id, trunk, 0, id);
      trunk = tree.addSegment(id + 1, trunk, 1, id)!;
    }
    expect(layoutRows(tree).of.size).toBe(tree.segments.size);
  });
});

describe('spans', () => {
  it('begin where the parent ends and hold the segment', () => {
    fc.assert(
      fc.property(treeFiles, measures, (file, measure) => {
        const tree = treeFromFile(file);
        const spans = layoutSpans(tree, measure);
        for (const segment of tree.segments.values()) {
          const { x0, x1 } = spans.of.get(segment)!;
          expect(x0).toBe(segment.parent === null ? 0 : spans.of.get(segment.parent)!.x1);
          expect(x1 - x0).toBeCloseTo(widthOf(segment.length, measure));
          expect(x1).toBeLessThanOrEqual(spans.width);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('grow with their tokens', () => {
    fc.assert(fc.property(fc.nat(10000), measures, (n, measure) => widthOf(n + 1, measure) > widthOf(n, measure)));
  });
});

describe('the view', () => {
  const size = { width: 800, height: 500 };
  const margins = { left: 20, right: 100, top: 30, bottom: 10 };
  const units = fc.double({ min: 1, max: 5000, noNaN: true });
  const points = fc.double({ min: 0, max: 500, noNaN: true });

  it('fits all of it', () => {
    fc.assert(
      fc.property(units, fc.integer({ min: 1, max: 100 }), (width, rows) => {
        const { sx, sy, tx, ty } = fitView(width, rows, size, margins);
        expect(tx + width * sx).toBeLessThanOrEqual(size.width - margins.right + 1e-6);
        expect(ty - sy / 2).toBeGreaterThanOrEqual(margins.top - 1e-6);
        expect(ty + (rows - 0.5) * sy).toBeLessThanOrEqual(size.height - margins.bottom + 1e-6);
      }),
    );
  });

  it('zooms around a point that stays', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.1, max: 10, noNaN: true }), points, points, (factor, px, py) => {
        const before = fitView(200, 12, size, margins);
        const after = zoomView(before, factor, px, py);
        const x = (px - before.tx) / before.sx;
        const y = (py - before.ty) / before.sy;
        expect(after.tx + x * after.sx).toBeCloseTo(px, 4);
        expect(after.ty + y * after.sy).toBeCloseTo(py, 4);
      }),
    );
  });

  it('never loses the drawing', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        (dx, dy) => {
          const { tx, ty, sx, sy } = panView(fitView(200, 12, size, margins), dx, dy, 200, 12, size);
          expect(tx).toBeLessThan(size.width);
          expect(tx + 200 * sx).toBeGreaterThan(0);
          expect(ty).toBeLessThan(size.height);
          expect(ty + 12 * sy).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('moves only as far as it must', () => {
    const view = fitView(200, 12, size, margins);
    expect(revealView(view, 100, 6, size)).toEqual(view);
    const far = zoomView(view, 20, 0, 0);
    const { tx, ty, sx, sy } = revealView(far, 190, 11, size);
    expect(tx + 190 * sx).toBeLessThanOrEqual(size.width);
    expect(ty + 11 * sy).toBeLessThanOrEqual(size.height);
  });
});
