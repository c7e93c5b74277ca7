/** Trees to test with, and the events that tell them. */
import fc from 'fast-check';
import { eventsOf } from '../dev/stream.mjs';
import { syntheticTree } from '../dev/synthetic.mjs';
import { readEvent, type TreeEvent } from '../src/model/events';
import { Tree } from '../src/model/tree';

export interface Told {
  id: number;
  event: TreeEvent;
}

/** The events of a tree file, as they come over the wire. */
export function told(file: unknown, stepsPerEvent = 1): Told[] {
  const sent = [...eventsOf(file, { stepsPerEvent })];
  return sent.map(({ type, data }, i) => {
    const event = readEvent(type, JSON.parse(JSON.stringify(data)));
    if (event === null) throw new Error(`${type} was not understood`);
    return { id: i + 1, event };
  });
}

export function grown(events: Told[]): Tree {
  const tree = new Tree();
  for (const { id, event } of events) tree.apply(id, event);
  return tree;
}

/** A random small tree file. */
export const treeFiles = fc
  .record({ branches: fc.integer({ min: 1, max: 14 }), tokens: fc.integer({ min: 40, max: 160 }), seed: fc.nat() })
  .map(syntheticTree);

/** What must agree between two trees that tell the same. */
export function digest(tree: Tree): unknown {
  return {
    segments: [...tree.segments.values()]
      .sort((a, b) => a.id - b.id)
      .map((segment) => ({
        id: segment.id,
        parent: segment.parent?.id ?? null,
        child: segment.child,
        start: segment.start,
        state: segment.state,
        text: segment.pieces,
        entropy: segment.pieces.map((_, i) => segment.entropy.at(i)),
        varentropy: segment.pieces.map((_, i) => segment.varentropy.at(i)),
        logprob: segment.pieces.map((_, i) => segment.logprob.at(i)),
        children: segment.children.map(({ id }) => id),
        decision: segment.decision === null ? null : [segment.decision.position, Math.fround(segment.decision.entropy)],
        answer: segment.ending?.answer ?? null,
        length: segment.ending?.length ?? null,
      })),
    roots: tree.roots.map(({ id }) => id),
    votes: tree.votes,
    needed: tree.needed,
    winner: tree.winner?.id ?? null,
    tokens: tree.tokens,
    damaged: tree.damaged,
  };
}
