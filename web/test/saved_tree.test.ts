import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { syntheticTree } from '../dev/synthetic.mjs';
import { SavedTree } from '../src/app/saved_tree';
import { digest, grown, told, treeFiles } from './support';

describe('a saved tree', () => {
  it('is the tree that its events would have grown, and over', () => {
    fc.assert(
      fc.property(treeFiles, (file) => {
        const saved = new SavedTree(file);
        expect(digest(saved.tree)).toEqual(digest(grown(told(file))));
        expect(saved).toMatchObject({ phase: 'done', active: false, refused: false, error: null });
        expect(saved.question).toBe(file.question);
      }),
      { numRuns: 20 },
    );
  });

  it('without a question is named by its prompt', () => {
    const file = { ...syntheticTree({ branches: 1, tokens: 40 }), question: '', prompt: { text: 'Once\u202e' } };
    expect(new SavedTree(file).question).toBe('Once\ufffd');
  });

  it('tells why its search failed', () => {
    const file = { ...syntheticTree({ branches: 2, tokens: 40 }), reason: 'failed', error: 'no memory' };
    expect(new SavedTree(file).error).toBe('The search failed: no memory');
  });

  it('that was saved while it grew still has its live branches, and is over all the same', () => {
    const file = syntheticTree({ branches: 5, tokens: 60 });
    for (const segment of file.segments) if (segment.state !== 'split') segment.state = 'live';
    const { tree } = new SavedTree({ ...file, reason: 'running', winner: null, finished: [], votes: [] });
    expect(tree.count('live')).toBe(5);
    expect(tree.outcome?.reason).toBe('running');
  });

  it('is best read at its winner, else at the most probable branch', () => {
    const file = syntheticTree({ branches: 6, tokens: 60 });
    const winner = file.finished[file.winner!].leaf;
    expect(new SavedTree(file).tree.best?.id).toBe(winner);
    const unfinished = { ...file, winner: null, finished: [], best_leaf: 3 };
    expect(new SavedTree(unfinished).tree.best?.id).toBe(3);
    expect(new SavedTree({}).tree.best).toBeNull();
  });

  it('may be any nonsense', () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (file) => void new SavedTree(file)));
  });
});
