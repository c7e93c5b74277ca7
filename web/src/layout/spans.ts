/** How far branches reach, from left to right. */
import type { Segment, Tree } from '../model/tree';

/** tokens: to scale. compact: short and long segments side by side, for trees that branch early and run long. */
export type Measure = 'tokens' | 'compact';

export interface Span {
  x0: number;
  x1: number;
}

/** The width of a segment of so many tokens. Grows with them, in both measures. */
export function widthOf(tokens: number, measure: Measure): number {
  return measure === 'tokens' ? tokens : 6 + 6 * Math.log2(1 + tokens);
}

/** Parents before children. */
export function layoutSpans(tree: Tree, measure: Measure): { of: Map<Segment, Span>; width: number } {
  const of = new Map<Segment, Span>();
  let width = 0;
  for (const segment of tree.inOrder()) {
    const x0 = segment.parent === null ? 0 : of.get(segment.parent)!.x1;
    const x1 = x0 + widthOf(segment.length, measure);
    of.set(segment, { x0, x1 });
    width = Math.max(width, x1);
  }
  return { of, width };
}
