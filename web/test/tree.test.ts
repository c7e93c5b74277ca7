import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { syntheticTree } from '../dev/synthetic.mjs';
import { readEvent } from '../src/model/events';
import { leafBelow, pathTo, Tree } from '../src/model/tree';
import { splitPieces, treeFromFile } from '../src/model/tree_file';
import { digest, grown, told, treeFiles } from './support';

describe('a tree told by events', () => {
  it('is the tree of the file', () => {
    fc.assert(
      fc.property(treeFiles, fc.integer({ min: 1, max: 50 }), (file, stepsPerEvent) => {
        expect(digest(grown(told(file, stepsPerEvent)))).toEqual(digest(treeFromFile(file)));
      }),
      { numRuns: 60 },
    );
  });

  it('does not mind events that come again after a lost connection', () => {
    fc.assert(
      fc.property(treeFiles, fc.array(fc.nat(), { maxLength: 8 }), (file, cuts) => {
        const events = told(file, 7);
        const stream = [];
        let at = 0;
        for (const cut of cuts) {
          const end = Math.min(events.length, at + (cut % events.length));
          stream.push(...events.slice(at, end));
          at = Math.max(0, end - (cut % 5)); // resumes too early
        }
        stream.push(...events.slice(at));
        expect(digest(grown(stream))).toEqual(digest(grown(events)));
      }),
      { numRuns: 40 },
    );
  });

  it('says that it is damaged when events are missing, and never throws', () => {
    fc.assert(
      fc.property(treeFiles, fc.infiniteStream(fc.boolean()), (file, keep) => {
        const events = told(file, 5);
        const kept = events.filter(() => keep.next().value === true);
        const whole = grown(events);
        const tree = grown(kept);
        const lostStructure = events.some(
          ({ event }, i) => !kept.includes(events[i]!) && (event.type === 'split' || event.type === 'root'),
        );
        if (lostStructure && kept.some(({ event }) => event.type === 'grow') && tree.tokens > 0) {
          expect(tree.damaged || tree.segments.size < whole.segments.size).toBe(true);
        }
        expect(tree.segments.size).toBeLessThanOrEqual(whole.segments.size);
        expect(tree.tokens).toBeLessThanOrEqual(whole.tokens);
        for (const leaf of tree.leaves()) expect(pathTo(leaf)[0]!.parent).toBeNull();
      }),
      { numRuns: 40 },
    );
  });

  it('keeps children in the order of their probability, whatever order they come in', () => {
    const tree = new Tree();
    tree.apply(1, readEvent('root', { segment: 0, child: 0 })!);
    tree.apply(
      2,
      readEvent('split', {
        segment: 0,
        position: 0,
        entropy: 1,
        varentropy: 2,
        children: [
          { segment: 3, child: 2, text: 'c', logprob: -3 },
          { segment: 1, child: 0, text: 'a', logprob: -1 },
          { segment: 2, child: 1, text: 'b', logprob: -2 },
        ],
      })!,
    );
    expect(tree.segments.get(0)!.children.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(tree.leaves().map(({ pieces }) => pieces.join(''))).toEqual(['a', 'b', 'c']);
  });

  it('cuts off what still grows when the run is over', () => {
    const events = told(syntheticTree({ branches: 4, tokens: 50 }));
    const early = events.slice(0, 20);
    const tree = grown(early);
    tree.apply(1000, readEvent('done', { reason: 'cancelled' })!);
    expect(tree.count('live')).toBe(0);
    expect(tree.outcome?.reason).toBe('cancelled');
    expect(tree.winner).toBeNull();
  });

  it('adds what an end tells of an incomplete character', () => {
    const tree = new Tree();
    tree.apply(1, readEvent('root', { segment: 0, child: 0 })!);
    tree.apply(2, readEvent('grow', { segments: [{ segment: 0, text: ['a', ''] }] })!);
    tree.apply(3, readEvent('end', { segment: 0, state: 'exhausted', length: 2, text: '\ufffd' })!);
    expect(tree.segments.get(0)!.pieces).toEqual(['a', '\ufffd']);
  });
});

describe('reading events', () => {
  it('ignores types it does not know and data that makes no sense', () => {
    expect(readEvent('weather', { sunny: true })).toBeNull();
    expect(readEvent('root', { segment: 'x' })).toBeNull();
    expect(readEvent('end', { segment: 1, state: 'gone' })).toBeNull();
    expect(readEvent('split', { segment: 1, children: [] })).toBeNull();
    expect(readEvent('open', null)).toBeNull();
    expect(readEvent('open', [1])).toBeNull();
  });

  it('takes anything without throwing', () => {
    const types = ['open', 'prefill', 'root', 'grow', 'split', 'end', 'votes', 'done', 'other'];
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...types), fc.jsonValue())), (events) => {
        const tree = new Tree();
        events.forEach(([type, data], i) => {
          const event = readEvent(type, data);
          if (event !== null) tree.apply(i, event);
        });
        tree.leaves();
      }),
    );
  });

  it('knows infinite thresholds', () => {
    const event = readEvent('open', { method: { branch: { tau_v: 'inf', tau_h: 2.5 } } });
    expect(event?.type === 'open' && event.opening.branch.tauV).toBe(Infinity);
  });
});

describe('the tree file', () => {
  it('cuts text by bytes, not by characters', () => {
    expect(splitPieces('aé€😀', [1, 2, 0, 3, 4])).toEqual(['a', 'é', '', '€', '😀']);
  });

  it('is damaged, not broken, by nonsense', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('segments', 'finished', 'votes', 'method', 'winner'), fc.jsonValue()),
        (file) => {
          treeFromFile(file);
        },
      ),
    );
    expect(treeFromFile({ segments: [{ id: 1, parent: 0 }] }).damaged).toBe(true);
  });
});

describe('the leaf below a segment', () => {
  it('is a leaf, below it, and the winner where it can be', () => {
    fc.assert(
      fc.property(treeFiles, (file) => {
        const tree = treeFromFile(file);
        for (const segment of tree.segments.values()) {
          const leaf = leafBelow(segment, tree.winner);
          expect(leaf.children).toEqual([]);
          expect(pathTo(leaf)).toContain(segment);
          if (tree.winner !== null && pathTo(tree.winner).includes(segment)) expect(leaf).toBe(tree.winner);
        }
      }),
      { numRuns: 20 },
    );
  });
});
