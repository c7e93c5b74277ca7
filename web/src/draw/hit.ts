/** What lies under a pointer. */
import type { Segment } from '../model/tree';
import { placeSegment, type Scene } from './scene';

export interface Hit {
  segment: Segment;
  token: number; // of the segment, nearest to the pointer
}

const kReach = 12; // pixels
const kLabelReach = 150; // leaves can be pointed at by their labels

export function hitTest(scene: Pick<Scene, 'rowOf' | 'spans' | 'view'>, px: number, py: number): Hit | null {
  let best: Hit | null = null;
  let nearest = kReach;
  for (const segment of scene.spans.keys()) {
    const at = placeSegment(scene, segment);
    const reach = segment.isLeaf ? kLabelReach : 0;
    if (px < at.x0 - kReach || px > at.x1 + kReach + reach) continue;
    const along = Math.max(0, at.x0 - px, px - at.x1 - reach);
    // Left of its bend a branch lies between its parent's row and its own.
    const turned = at.bend > at.x0 ? Math.min(1, Math.max(0, (px - at.x0) / (at.bend - at.x0))) : 1;
    const y = at.y0 + (at.y - at.y0) * turned * turned * (3 - 2 * turned);
    const distance = Math.hypot(along, py - y);
    if (distance >= nearest) continue;
    nearest = distance;
    const token = Math.floor(((px - at.x0) / Math.max(at.x1 - at.x0, 1e-6)) * segment.length);
    best = { segment, token: Math.min(Math.max(token, 0), Math.max(segment.length - 1, 0)) };
  }
  return best;
}
