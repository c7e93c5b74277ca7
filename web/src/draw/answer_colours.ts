/**
 * One colour and one mark an answer, as in every other picture: src/draw/answer_colours.h has the same table and says
 * why. Colours mean answers and nothing else; they are the custom properties --answer-… of style/colours.css.
 */
import type { Tree } from '../model/tree';

export type AnswerShape = 'disc' | 'square' | 'up' | 'down' | 'plus' | 'diamond' | 'half' | 'ring';

export interface AnswerColour {
  name: string; // also for ears
  light: string;
  dark: string;
  mark: string;
  shape: AnswerShape; // the mark, where it is drawn
}

export const kAnswerColours: AnswerColour[] = [
  { name: 'blue', light: '#044298', dark: '#2a7df4', mark: '●', shape: 'disc' },
  { name: 'vermilion', light: '#aa440a', dark: '#d64d16', mark: '■', shape: 'square' },
  { name: 'green', light: '#1f9d85', dark: '#a5e9c3', mark: '▲', shape: 'up' },
  { name: 'plum', light: '#6e314b', dark: '#d18ba6', mark: '▼', shape: 'down' },
  { name: 'teal', light: '#20738e', dark: '#17b5fc', mark: '✚', shape: 'plus' },
  { name: 'ochre', light: '#ba8017', dark: '#f4c928', mark: '◆', shape: 'diamond' },
  { name: 'violet', light: '#9071e1', dark: '#966eb2', mark: '◐', shape: 'half' },
];

/** All further answers, and none: told apart by their text. */
export const kOtherAnswer: AnswerColour = {
  name: 'grey',
  light: '#5f6b7c',
  dark: '#9fabbc',
  mark: '○',
  shape: 'ring',
};

export const kRightSign = '✓';
export const kWrongSign = '✗';

/**
 * Gives answers their colours in the order in which they are first seen, and never takes one back. What stands beside a
 * tree for comparison takes its colours from the other end, and only once the tree is done: the tree keeps those that it
 * has alone, whoever of the two is faster.
 */
export class AnswerColours {
  readonly #seen: (string | null)[];
  #settled: boolean;

  /** `seen`: what `slots` gave before. `settled`: false while a tree grows that others stand beside. */
  constructor(seen: (string | null)[] = [], settled = true) {
    this.#seen = kAnswerColours.map((_, i) => seen[i] ?? null);
    this.#settled = settled;
  }

  /** The tree has all its answers: what stands beside it may have the rest. */
  settle(): void {
    this.#settled = true;
  }

  /** The answers that have colours, in the order of the colours. */
  get slots(): (string | null)[] {
    return [...this.#seen];
  }

  of(answer: string | null, from: 'first' | 'last' = 'first'): AnswerColour {
    if (answer === null || answer === '') return kOtherAnswer;
    const known = this.#seen.indexOf(answer);
    if (known >= 0) return kAnswerColours[known]!;
    if (from === 'last' && !this.#settled) return kOtherAnswer;
    const free = from === 'first' ? this.#seen.indexOf(null) : this.#seen.lastIndexOf(null);
    if (free < 0) return kOtherAnswer;
    this.#seen[free] = answer;
    return kAnswerColours[free]!;
  }

  /** For pictures, which give no colours away. */
  known(answer: string | null): AnswerColour {
    return (answer === null ? undefined : kAnswerColours[this.#seen.indexOf(answer)]) ?? kOtherAnswer;
  }

  /** Those of a tree, in the order in which its trajectories finished. */
  add(tree: Tree, from: 'first' | 'last' = 'first'): void {
    for (const leaf of tree.finishedLeaves) this.of(leaf.ending?.answer ?? null, from);
  }
}
