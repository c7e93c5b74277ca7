/** Where branches lie: rows by d3's cluster layout, so that no two of them cross or cover each other. */
import { cluster, hierarchy } from 'd3-hierarchy';
import type { Segment, Tree } from '../model/tree';

export interface Rows {
  of: Map<Segment, number>; // from 0; inner segments lie amid their children, on fractions
  count: number; // the height of all of them
}

interface Datum {
  segment: Segment | null; // null: above the starts of all trajectories
  children: Datum[];
}

const kGapBetweenFamilies = 1.3; // rows

function datumOf(segment: Segment): Datum {
  return { segment, children: segment.children.map(datumOf) };
}

export function layoutRows(tree: Tree): Rows {
  const of = new Map<Segment, number>();
  if (tree.roots.length === 0) return { of, count: 0 };
  const root = hierarchy<Datum>({ segment: null, children: tree.roots.map(datumOf) });
  const place = cluster<Datum>()
    .nodeSize([1, 1])
    .separation((a, b) => (a.parent === b.parent ? 1 : kGapBetweenFamilies));
  const placed = place(root);
  let lowest = Infinity;
  let highest = -Infinity;
  placed.each((node) => {
    lowest = Math.min(lowest, node.x);
    highest = Math.max(highest, node.x);
  });
  placed.each((node) => {
    if (node.data.segment !== null) of.set(node.data.segment, node.x - lowest);
  });
  return { of, count: highest - lowest + 1 };
}
