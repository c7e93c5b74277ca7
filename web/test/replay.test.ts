import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { syntheticTree } from '../dev/synthetic.mjs';
import { eventsOf } from '../dev/stream.mjs';
import { Replaying, kSpeeds } from '../src/app/replaying';
import { SavedTree } from '../src/app/saved_tree';
import { treeFilm } from '../src/draw/film';
import type { Theme } from '../src/draw/theme';
import { readEvent } from '../src/model/events';
import { Replay } from '../src/model/replay';
import { Tree, type Segment } from '../src/model/tree';
import { treeFromFile } from '../src/model/tree_file';
import { treeFiles } from './support';

const look = (tree: Tree) =>
  [...tree.segments.values()]
    .sort((a, b) => a.id - b.id)
    .map((segment: Segment) => ({
      id: segment.id,
      parent: segment.parent?.id ?? null,
      text: segment.pieces.join('|'),
      state: segment.state,
      answer: segment.ending?.answer ?? null,
      decided: segment.decision?.position ?? null,
    }));

describe('a replay', () => {
  it('ends as the run ended, however it was sought through', () => {
    fc.assert(
      fc.property(
        treeFiles,
        fc.array(fc.double({ min: -0.2, max: 1.2, noNaN: true }), { maxLength: 6 }),
        (file, way) => {
          const whole = treeFromFile(file);
          const replay = new Replay(whole);
          for (const share of way) replay.seek(share * replay.steps);
          replay.seek(replay.steps);
          expect(look(replay.tree)).toEqual(look(whole));
          expect(replay.tree.votes).toEqual(whole.votes);
          expect(replay.tree.tokens).toBe(whole.tokens);
          expect(replay.tree.outcome).toBe(whole.outcome);
          expect(replay.tree.finishedLeaves.map(({ id }) => id)).toEqual(whole.finishedLeaves.map(({ id }) => id));
          expect(replay.tree.damaged).toBe(whole.damaged);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('has at every step the tokens that had been sent until then', () => {
    const file = syntheticTree({ branches: 6, tokens: 60 });
    const whole = treeFromFile(file);
    const replay = new Replay(whole);
    const sent = [...eventsOf(file)];
    for (const step of [1, 2, 5, 13, 29, 40, 59]) {
      const live = new Tree();
      let id = 0;
      for (const { step: at, type, data } of sent) {
        if (at > step) break;
        const event = readEvent(type, data);
        // A split is told with the tokens of the step that follows it.
        if (event !== null && !(event.type === 'split' && at === step)) live.apply(++id, event);
      }
      replay.seek(step);
      const texts = (tree: Tree) =>
        look(tree)
          .filter(({ text }) => text !== '')
          .map(({ id: segment, text }) => [segment, text]);
      expect(texts(replay.tree)).toEqual(texts(live));
      expect(replay.tree.finishedLeaves.map((leaf) => leaf.id)).toEqual(live.finishedLeaves.map((leaf) => leaf.id));
    }
  });

  it('going back is the same as starting anew', () => {
    fc.assert(
      fc.property(treeFiles, fc.nat(200), fc.nat(200), (file, a, b) => {
        const whole = treeFromFile(file);
        const [there, back] = [new Replay(whole), new Replay(whole)];
        there.seek(Math.min(a, b));
        back.seek(Math.max(a, b));
        back.seek(Math.min(a, b));
        expect(look(back.tree)).toEqual(look(there.tree));
        expect(back.tree.votes).toEqual(there.tree.votes);
      }),
      { numRuns: 30 },
    );
  });

  it('takes about ten seconds unless another speed is chosen', () => {
    const replaying = new Replaying(new SavedTree(syntheticTree({ branches: 4, tokens: 500 })));
    expect(kSpeeds).toContain(replaying.speed);
    expect(replaying.steps / replaying.speed).toBeGreaterThan(5);
    expect(replaying.steps / replaying.speed).toBeLessThan(20);
  });
});

const theme: Theme = {
  paper: '#fff',
  ink: '#000',
  dim: '#555',
  rule: '#ccc',
  halo: '#fe8',
  mark: '#fed',
  markEdge: '#a60',
  sans: 'sans-serif',
  mono: 'monospace',
  state: { live: '#1', split: '#2', finished: '#3', exhausted: '#4', retired: '#5', cut: '#6' },
  answer: ({ light }) => light,
};

describe('the film', () => {
  it('shows every line and every vote in its time, and all of them where nothing moves', () => {
    const file = syntheticTree({ branches: 5, tokens: 80 });
    const run = new SavedTree(file);
    const film = treeFilm(run, theme, 20);
    const { tree } = run;
    expect(film.match(/class="film grows /g)).toHaveLength(tree.segments.size);
    const used = new Set([...film.matchAll(/class="film (?:grows )?([ag]\d+(?:_\d+)*)"/g)].map(([, name]) => name!));
    for (const name of used) {
      expect(film).toContain(`@keyframes ${name}{`);
      expect(film).toContain(`.${name}{animation-name:${name}}`);
    }
    expect(film).toContain('prefers-reduced-motion: no-preference');
    // Without motion the growing lines are not there, and nothing else is hidden.
    expect(film).toContain('.grows{stroke-dasharray:1;opacity:0}');
    expect(film.match(/<g/g)?.length).toBe(film.match(/<\/g>/g)?.length);
    const blocks = [...film.matchAll(/<polygon [^>]*opacity="1"\/>/g)];
    expect(blocks).toHaveLength(tree.finishedLeaves.length);
  });

  it('has no markup but its own, whatever a model says', () => {
    const file = syntheticTree({ branches: 3, tokens: 60 });
    const evil = '"><script>alert(1)</script></style>&\u0000\ud800';
    for (const segment of file.segments) {
      segment.text = evil;
      segment.piece_bytes = [new TextEncoder().encode(evil).length];
    }
    file.question = evil;
    for (const trace of file.finished) trace.answer = evil;
    for (const vote of file.votes) vote.answer = evil;
    const film = treeFilm(new SavedTree(file), theme, 20);
    const tags = new Set([...film.matchAll(/<\/?(\w+)/g)].map(([, tag]) => tag));
    for (const tag of tags) {
      expect(['svg', 'title', 'style', 'rect', 'path', 'polygon', 'circle', 'text', 'g']).toContain(tag);
    }
    expect(film.match(/<\/style>/g)).toHaveLength(1);
  });
});
