/** How things are named: one place, so that the drawing, the lists and the spoken words agree. */
import type { Segment, SegmentState, Tree } from '../model/tree';
import type { Glyph } from './pen';

export const kStateWords: Record<SegmentState, string> = {
  live: 'growing',
  split: 'branches here',
  finished: 'finished',
  exhausted: 'token budget spent',
  retired: 'given up',
  cut: 'cut off',
};

/** Of a branch that has not finished: those that have show their answer's mark. */
export function glyphOf(state: Exclude<SegmentState, 'finished'>): Glyph {
  const glyphs: Record<Exclude<SegmentState, 'finished'>, Glyph> = {
    live: 'dot',
    split: 'decision',
    exhausted: 'wall',
    retired: 'fall',
    cut: 'bar',
  };
  return glyphs[state];
}

/** A token as it can be shown alone: white space made visible. */
export function visibleToken(text: string): string {
  if (text === '') return '∅';
  const shown = text.replace(/\r?\n/g, '⏎').replace(/\t/g, '⇥');
  const trimmed = shown.trim();
  return trimmed === '' ? '␣'.repeat(Math.min(shown.length, 4)) : trimmed;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** 0.003 -> "0.3%", 0.94 -> "94%". */
export function formatShare(share: number): string {
  if (!Number.isFinite(share)) return '–';
  const percent = share * 100;
  return `${percent >= 9.95 ? percent.toFixed(0) : percent >= 0.095 ? percent.toFixed(1) : '<0.1'}%`;
}

/** Of a token with this log-probability; also the geometric mean of several, from the mean of theirs. */
export function formatProbability(logprob: number): string {
  return formatShare(Math.exp(logprob));
}

/** The token that `segment` begins with: what was decided. */
export function firstToken(segment: Segment): string {
  return visibleToken(segment.pieces[0] ?? '');
}

export function formatNats(value: number): string {
  return Number.isFinite(value) ? value.toFixed(2) : value === Infinity ? '∞' : '–';
}

export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${seconds.toFixed(0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** 1234567 -> "1.2 MB". */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let power = 0;
  while (power < units.length - 1 && bytes >= 1000 ** (power + 1)) ++power;
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 99.5 ? value.toFixed(0) : value.toFixed(1)} ${units[power]}`;
}

/** As in the tree file. */
export function branchName(segment: Segment): string {
  return String(segment.id);
}

/** Why a run ended; null for the ordinary reasons. */
export function reasonInWords(reason: string): string | null {
  switch (reason) {
    case 'running':
      return 'Still running when it was saved.';
    case 'token-budget':
      return 'Ended early: the budget of tokens is spent.';
    case 'time-budget':
      return 'Ended early: the time is up.';
    case 'cancelled':
      return 'Cancelled.';
    case 'failed':
      return 'The search failed.';
    default:
      return null;
  }
}

export function leafLength(leaf: Segment): number {
  return leaf.start + leaf.length;
}

/** How many trajectories gave the answer of `leaf`. */
export function votesFor(tree: Tree, answer: string | null): number {
  return answer === null ? 0 : (tree.votes.find((vote) => vote.answer === answer)?.votes ?? 0);
}
