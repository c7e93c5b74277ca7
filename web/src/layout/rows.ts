/** Where branches lie: rows by d3's cluster layout, so that no two of them cross or cover each other. */
import { cluster, hierarchy } from 'd3-hierarchy';
import type { Segment, Tree } from '../model/tree';

export interface Rows {
  of: Map<Segment, number>; // from 0; inner segments lie amid their children, on fractions
  count: number; // the height of all of them
}

const kGapBetweenFamilies = 1.3; // rows

export function layoutRows(tree: Tree): Rows {
  const of = new Map<Segment, number>();
  if (tree.roots.length === 0) return { of, count: 0 };
  // The tree itself stands above the starts of all trajectories.
  const root = hierarchy<Tree | Segment>(tree, (node) => ('roots' in node ? node.roots : node.children));
  const place = cluster<Tree | Segment>()
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
    if (!('roots' in node.data)) of.set(node.data, node.x - lowest);
  });
  return { of, count: highest - lowest + 1 };
}
