/** A tree as it was at any step: from the first token to the last vote. */
import type { Vote } from './events';
import { Tree, type Segment } from './tree';

/** The steps in which a segment's tokens were made: its first in step `from` + 1, its last in step `to`. */
export interface Stretch {
  from: number;
  to: number;
}

/** How many steps later than the first each trajectory began: those of DeepConf wait for its warm-up. */
function delayOf(root: Segment, steps: number): number {
  const waiting = [root];
  let cut = 0;
  for (let segment = waiting.pop(); segment !== undefined; segment = waiting.pop()) {
    const { ending } = segment;
    if (segment.state === 'finished' && ending !== null) return Math.max(0, ending.step - ending.length);
    if (segment.state === 'cut') cut = Math.max(cut, steps - segment.start - segment.length);
    waiting.push(...segment.children);
  }
  return steps > 0 ? Math.max(0, cut) : 0;
}

/** Every token takes one step, whatever else is decoded beside it. */
export function stretchesOf(tree: Tree): { of: Map<Segment, Stretch>; steps: number } {
  const of = new Map<Segment, Stretch>();
  const known = tree.outcome?.account.steps ?? 0;
  let steps = known;
  for (const root of tree.roots) {
    const delay = delayOf(root, known);
    const waiting = [root];
    for (let segment = waiting.pop(); segment !== undefined; segment = waiting.pop()) {
      const from = delay + segment.start;
      of.set(segment, { from, to: from + segment.length });
      steps = Math.max(steps, from + segment.length);
      waiting.push(...segment.children);
    }
  }
  return { of, steps };
}

/** Votes by number, a tie to the answer that was given first: what a plain majority has at that moment. */
export function countVotes(leaves: Segment[]): Vote[] {
  const counts = new Map<string, number>();
  for (const { ending } of leaves) {
    const answer = ending?.answer ?? '';
    if (answer !== '') counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  return [...counts].map(([answer, votes]) => ({ answer, votes })).sort((a, b) => b.votes - a.votes);
}

export class Replay {
  readonly steps: number;
  /** As it was at `step`. Another object once the time was turned back. */
  tree = new Tree();
  step = 0;
  readonly #stretches: Map<Segment, Stretch>;
  readonly #closing: Segment[]; // in the order in which they split or end
  #closed = 0;
  readonly #live = new Map<Segment, Segment>(); // segments that grow, with their likenesses

  /** `whole` is done: nothing is added to it any more. */
  constructor(readonly whole: Tree) {
    const { of, steps } = stretchesOf(whole);
    this.#stretches = of;
    this.steps = steps;
    const finishing = new Map(whole.finishedLeaves.map((leaf, i) => [leaf, i]));
    this.#closing = [...of.keys()].sort(
      (a, b) => of.get(a)!.to - of.get(b)!.to || (finishing.get(a) ?? -1) - (finishing.get(b) ?? -1) || a.id - b.id,
    );
    this.#rewind();
  }

  seek(step: number): void {
    const wanted = Math.min(Math.max(Math.round(step), 0), this.steps);
    if (wanted < this.step) this.#rewind();
    this.step = wanted;
    while (this.#closed < this.#closing.length) {
      const segment = this.#closing[this.#closed]!;
      if (this.#stretches.get(segment)!.to > wanted) break;
      this.#close(segment);
      ++this.#closed;
    }
    for (const [segment, likeness] of this.#live) this.#grow(segment, likeness);
    this.tree.step = wanted;
    if (wanted === this.steps && this.whole.outcome !== null) {
      this.tree.votes = this.whole.votes;
      this.tree.finish(this.whole.outcome);
    }
  }

  #rewind(): void {
    const { whole } = this;
    this.tree = new Tree();
    this.tree.opening = whole.opening;
    this.tree.prefill = whole.prefill;
    this.tree.needed = whole.needed;
    this.tree.damaged = whole.damaged;
    this.step = 0;
    this.#closed = 0;
    this.#live.clear();
    for (const root of whole.roots) this.#open(root, null);
  }

  #open(segment: Segment, parent: Segment | null): void {
    const likeness = this.tree.addSegment(segment.id, parent, segment.child, segment.start);
    if (likeness !== null) this.#live.set(segment, likeness);
  }

  #grow(segment: Segment, likeness: Segment): void {
    const until = Math.min(segment.length, this.step - this.#stretches.get(segment)!.from);
    for (let i = likeness.length; i < until; ++i) {
      likeness.push(segment.pieces[i]!, segment.entropy.at(i), segment.varentropy.at(i), segment.logprob.at(i));
      ++this.tree.tokens;
    }
  }

  #close(segment: Segment): void {
    const likeness = this.#live.get(segment);
    if (likeness === undefined) return;
    this.#grow(segment, likeness);
    this.#live.delete(segment);
    likeness.state = segment.state;
    likeness.decision = segment.decision;
    likeness.ending = segment.ending;
    for (const child of segment.children) this.#open(child, likeness);
    ++this.tree.shape;
    if (segment.state !== 'finished') return;
    this.tree.finishedLeaves.push(likeness);
    this.tree.votes = countVotes(this.tree.finishedLeaves);
  }
}
