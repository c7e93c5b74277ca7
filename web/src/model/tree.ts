/** The decoding tree as the page knows it: what the events so far have told. */
import type { EndState, Growth, Needed, Opening, Outcome, SplitChild, TreeEvent, Vote } from './events';
import { FloatColumn } from './float_column';

export type SegmentState = 'live' | 'split' | EndState;

/** The decision token that a segment ends with. */
export interface Decision {
  step: number;
  position: number; // of the token that was decided
  entropy: number; // nats
  varentropy: number; // nats²
}

export interface Ending {
  step: number;
  length: number; // of the whole trajectory, in tokens
  answer: string | null;
  meanLogprob: number;
}

/** A run of tokens between decisions: docs/tree-file.md. */
export class Segment {
  state: SegmentState = 'live';
  readonly pieces: string[] = []; // the text of each token
  readonly entropy = new FloatColumn();
  readonly varentropy = new FloatColumn();
  readonly logprob = new FloatColumn();
  readonly children: Segment[] = [];
  decision: Decision | null = null;
  ending: Ending | null = null;

  constructor(
    readonly id: number,
    readonly parent: Segment | null,
    readonly child: number, // which of its parent's children, or which trajectory
    readonly start: number, // position of its first token
  ) {}

  get length(): number {
    return this.pieces.length;
  }

  get isLeaf(): boolean {
    return this.children.length === 0;
  }

  push(text: string, entropy: number, varentropy: number, logprob: number): void {
    this.pieces.push(text);
    this.entropy.push(entropy);
    this.varentropy.push(varentropy);
    this.logprob.push(logprob);
  }
}

export class Tree {
  opening: Opening | null = null;
  prefill: { done: number; total: number } | null = null;
  readonly segments = new Map<number, Segment>();
  readonly roots: Segment[] = [];
  readonly finishedLeaves: Segment[] = []; // in order of finishing
  votes: Vote[] = [];
  needed: Needed = 'all';
  step = 0;
  tokens = 0; // unique ones
  seconds = NaN; // of decoding so far
  memory = NaN; // bytes the server holds
  outcome: Outcome | null = null;
  shape = 0; // changes whenever a segment appears, splits or ends
  lastEventId = -1;
  /** Something did not fit: events were lost, and the tree should be fetched whole. */
  damaged = false;

  /** Applies an event with its number in the stream. False when it had been applied before. */
  apply(id: number, event: TreeEvent): boolean {
    if (id <= this.lastEventId) return false;
    this.lastEventId = id;
    switch (event.type) {
      case 'open':
        this.opening = event.opening;
        this.needed = event.opening.needed;
        break;
      case 'prefill':
        this.prefill = { done: event.done, total: event.total };
        break;
      case 'root':
        this.addSegment(event.segment, null, event.child, 0);
        break;
      case 'grow':
        this.step = Math.max(this.step, event.step);
        if (Number.isFinite(event.seconds)) this.seconds = event.seconds;
        if (Number.isFinite(event.memory)) this.memory = event.memory;
        for (const growth of event.segments) this.#grow(growth);
        break;
      case 'split':
        this.step = Math.max(this.step, event.step);
        this.#split(event.segment, event, event.children);
        break;
      case 'end':
        this.step = Math.max(this.step, event.step);
        this.#end(event.segment, event.state, event, event.rest);
        break;
      case 'votes':
        this.votes = event.votes;
        this.needed = event.needed;
        break;
      case 'done':
        this.finish(event.outcome);
        break;
    }
    return true;
  }

  /** Adds a live segment; null (and damage) when its number is taken. */
  addSegment(id: number, parent: Segment | null, child: number, start: number): Segment | null {
    if (this.segments.has(id)) {
      this.damaged = true;
      return null;
    }
    const segment = new Segment(id, parent, child, start);
    this.segments.set(id, segment);
    const siblings = parent === null ? this.roots : parent.children;
    let at = siblings.length;
    while (at > 0 && siblings[at - 1]!.child > child) --at;
    siblings.splice(at, 0, segment);
    ++this.shape;
    return segment;
  }

  finish(outcome: Outcome): void {
    this.outcome = outcome;
    if (outcome.votes.length > 0) this.votes = outcome.votes;
    for (const segment of this.segments.values()) {
      if (segment.state === 'live') segment.state = 'cut';
    }
    ++this.shape;
  }

  get winner(): Segment | null {
    const leaf = this.outcome?.winnerLeaf ?? null;
    return leaf === null ? null : (this.segments.get(leaf) ?? null);
  }

  /** The branch that was given to the user: the winner, or the most probable one where none finished. */
  get best(): Segment | null {
    return this.winner ?? this.segments.get(this.outcome?.bestLeaf ?? -1) ?? null;
  }

  /** All segments from top to bottom, as they are drawn; parents first. */
  inOrder(): Segment[] {
    const order: Segment[] = [];
    const waiting = [...this.roots].reverse();
    for (let segment = waiting.pop(); segment !== undefined; segment = waiting.pop()) {
      order.push(segment);
      for (let i = segment.children.length; i-- > 0; ) waiting.push(segment.children[i]!);
    }
    return order;
  }

  leaves(): Segment[] {
    return this.inOrder().filter((segment) => segment.isLeaf);
  }

  count(state: SegmentState): number {
    let count = 0;
    for (const segment of this.segments.values()) if (segment.state === state) ++count;
    return count;
  }

  #live(id: number): Segment | null {
    const segment = this.segments.get(id);
    if (segment?.state === 'live') return segment;
    this.damaged = true;
    return null;
  }

  #grow(growth: Growth): void {
    const segment = this.#live(growth.segment);
    if (segment === null) return;
    growth.text.forEach((text, i) =>
      segment.push(text, growth.entropy[i] ?? NaN, growth.varentropy[i] ?? NaN, growth.logprob[i] ?? NaN),
    );
    this.tokens += growth.text.length;
  }

  #split(id: number, decision: Decision, children: SplitChild[]): void {
    const parent = this.#live(id);
    if (parent === null) return;
    parent.state = 'split';
    const { step, entropy, varentropy } = decision;
    const position = parent.start + parent.length;
    parent.decision = { step, position, entropy, varentropy };
    if (decision.position !== position) this.damaged = true;
    for (const { segment, child, text, logprob } of children) {
      const added = this.addSegment(segment, parent, child, position);
      added?.push(text, entropy, varentropy, logprob);
      if (added !== null) ++this.tokens;
    }
  }

  #end(id: number, state: EndState, { step, length, answer, meanLogprob }: Ending, rest: string): void {
    const segment = this.#live(id);
    if (segment === null) return;
    if (rest !== '' && segment.length > 0) segment.pieces[segment.length - 1] += rest;
    segment.state = state;
    segment.ending = { step, length, answer, meanLogprob };
    if (state === 'finished') this.finishedLeaves.push(segment);
    ++this.shape;
  }
}

/** From the start of the trajectory to `leaf`. */
export function pathTo(leaf: Segment): Segment[] {
  const path: Segment[] = [];
  for (let segment: Segment | null = leaf; segment !== null; segment = segment.parent) path.push(segment);
  return path.reverse();
}

/** The leaf that a reader of `segment` most likely means: the winner below it, else its most probable descendant. */
export function leafBelow(segment: Segment, winner: Segment | null): Segment {
  for (let above: Segment | null = winner; above !== null; above = above.parent) {
    if (above === segment) return winner!;
  }
  let leaf = segment;
  while (leaf.children[0] !== undefined) leaf = leaf.children[0];
  return leaf;
}
