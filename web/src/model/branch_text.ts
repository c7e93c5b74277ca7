/** The text of one trajectory, as a person reads it: thinking and answer apart, decisions marked. */
import type { Segment } from './tree';

export interface TextRun {
  text: string;
  part: 'thinking' | 'answer';
  /** The segment whose first token this is, where a decision made it. */
  decided: Segment | null;
}

const kOpen = '<think>';
const kClose = '</think>';

export function segmentsText(segments: Segment[]): string {
  return segments.map((segment) => segment.pieces.join('')).join('');
}

interface Cut {
  at: number; // characters
  until: number; // > at where text is left out
  part?: TextRun['part'];
  decided?: Segment | null;
}

/** Runs of `path`'s text, none empty. `opensThinking`: the prompt ended inside the thinking. */
export function textRuns(path: Segment[], opensThinking: boolean): TextRun[] {
  const text = segmentsText(path);
  const cuts: Cut[] = [];
  let part: TextRun['part'] = opensThinking ? 'thinking' : 'answer';
  const open = opensThinking ? -1 : text.indexOf(kOpen);
  if (open >= 0) cuts.push({ at: open, until: open + kOpen.length, part: 'thinking' });
  const close = opensThinking || open >= 0 ? text.indexOf(kClose, Math.max(open, 0)) : -1;
  if (close >= 0) cuts.push({ at: close, until: close + kClose.length, part: 'answer' });

  let offset = 0;
  for (const segment of path) {
    const length = segment.pieces.reduce((sum, piece) => sum + piece.length, 0);
    const decided = segment.parent !== null ? (segment.pieces[0] ?? '') : '';
    if (decided !== '') {
      cuts.push({ at: offset, until: offset, decided: segment });
      cuts.push({ at: offset + decided.length, until: offset + decided.length, decided: null });
    }
    offset += length;
  }
  cuts.sort((a, b) => a.at - b.at);

  const runs: TextRun[] = [];
  let mark: Segment | null = null;
  let from = 0;
  const flush = (to: number) => {
    if (to > from) runs.push({ text: text.slice(from, to), part, decided: mark });
    from = Math.max(from, to);
  };
  for (const cut of cuts) {
    flush(cut.at);
    from = Math.max(from, cut.until);
    if (cut.part !== undefined) part = cut.part;
    if (cut.decided !== undefined) mark = cut.decided;
  }
  flush(text.length);
  return runs;
}

/** The tokens around token `index` of `segment`, across its path: what is before, the token, what follows. */
export function tokenContext(segment: Segment, index: number, reach = 8): [string, string, string] {
  let before = segment.pieces.slice(Math.max(0, index - reach), index).join('');
  let missing = reach - index;
  for (let above = segment.parent; above !== null && missing > 0; above = above.parent) {
    before = above.pieces.slice(-missing).join('') + before;
    missing -= above.length;
  }
  return [before, segment.pieces[index] ?? '', segment.pieces.slice(index + 1, index + 1 + reach).join('')];
}

/** The end of what `leaf` says, at most so many characters, on one line. */
export function textTail(leaf: Segment, characters: number): string {
  const enough = characters + kClose.length;
  let tail = '';
  for (let segment: Segment | null = leaf; segment !== null && tail.length < enough; segment = segment.parent) {
    for (let i = segment.length; i-- > 0 && tail.length < enough; ) tail = segment.pieces[i]! + tail;
  }
  return tail
    .replace(/<\/?think>/g, ' ')
    .replace(/\s+/g, ' ')
    .slice(-characters);
}
