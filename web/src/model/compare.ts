/** Where two trajectories part. */
import { pathTo, type Segment } from './tree';

export interface Parting {
  shared: Segment[]; // whole segments that both have
  left: Segment[]; // the left trajectory's own ones
  right: Segment[];
  /** The first tokens that differ; their segments share a parent, unless the trajectories share nothing. */
  decision: { entropy: number; varentropy: number; position: number } | null;
}

/** `left` and `right` are leaves, or any segments: the one may lead to the other, and then nothing parts. */
export function comparePaths(left: Segment, right: Segment): Parting {
  const a = pathTo(left);
  const b = pathTo(right);
  let common = 0;
  while (common < a.length && common < b.length && a[common] === b[common]) ++common;
  const parting = a[common] !== undefined && b[common] !== undefined ? a[common - 1] : undefined;
  return {
    shared: a.slice(0, common),
    left: a.slice(common),
    right: b.slice(common),
    decision: parting?.decision ?? null,
  };
}
