/** Draws the tree. One line a segment, whatever number of tokens it has; what is not seen is not drawn. */
import type { Measure, Span } from '../layout/spans';
import type { Size, View } from '../layout/view';
import { textTail } from '../model/branch_text';
import type { Segment, Tree } from '../model/tree';
import type { AnswerColours } from './answer_colours';
import { fitted, LabelRoom } from './labels';
import { monoWidth, type Pen, type Stroke, type TextStyle } from './pen';
import type { Theme } from './theme';
import {
  firstToken,
  formatCount,
  formatNats,
  formatProbability,
  glyphOf,
  kStateWords,
  leafLength,
  plural,
  visibleToken,
} from './words';

export interface Scene {
  tree: Tree;
  rowOf: (segment: Segment) => number;
  spans: Map<Segment, Span>;
  measure: Measure;
  view: View;
  size: Size;
  theme: Theme;
  colours: AnswerColours; // all answers of the tree have theirs
  winnerPath: ReadonlySet<Segment>;
  chosen: ReadonlySet<Segment>; // the path that is being read
  other: ReadonlySet<Segment>; // the path it is compared with
  pulse: number; // 0..1: how large live ends are at this moment
  axisAt?: number; // pixels from the top
}

/** Of a segment: the band of the winner, its hills, its line, the mark and label at its end, its first token. */
export type Part = 'band' | 'hill' | 'line' | 'end' | 'token';

/** One segment on the screen, in pixels. */
export interface Placement {
  x0: number;
  x1: number;
  bend: number; // where the curve from its parent ends
  y0: number; // of its parent
  y: number;
}

const kAxis = 18; // pixels along the top
const kLabelSize = 11;
const kLongestBend = 28;
const kRowForLabels = 17; // pixels a row from which labels above the lines have room
const kRowForTwo = 26; // from which a label finds room above the words at a branch's end
const kRowForLeaves = 9;
const kTokenRoom = 30; // pixels a token from which each one is written out

export function placeSegment(scene: Pick<Scene, 'rowOf' | 'spans' | 'view'>, segment: Segment): Placement {
  const { sx, sy, tx, ty } = scene.view;
  const { x0, x1 } = scene.spans.get(segment)!;
  const [left, right] = [tx + x0 * sx, tx + x1 * sx];
  const y = ty + scene.rowOf(segment) * sy;
  const y0 = segment.parent === null ? y : ty + scene.rowOf(segment.parent) * sy;
  const bend = segment.parent === null ? left : left + Math.min(kLongestBend, (right - left) * 0.7);
  return { x0: left, x1: right, bend, y0, y };
}

/** Finished branches are in their answer's colour, all others in shades of ink. */
function colourOf(segment: Segment, { theme, colours }: Pick<Scene, 'theme' | 'colours'>): string {
  if (segment.state !== 'finished') return theme.state[segment.state];
  return theme.answer(colours.known(segment.ending?.answer ?? null));
}

function strokeOf(segment: Segment, scene: Pick<Scene, 'theme' | 'colours'>): Stroke {
  const colour = colourOf(segment, scene);
  if (segment.state === 'cut') return { colour, width: 1.8, dash: [1, 5] };
  if (segment.state === 'retired') return { colour, width: 1.8, dash: [6, 4] };
  return { colour, width: segment.state === 'split' ? 1.8 : 2.4 };
}

export function drawTree(pen: Pen, scene: Scene): void {
  const { size } = scene;
  const seen: [Segment, Placement][] = [];
  const kLabelRoom = 260;
  for (const segment of scene.spans.keys()) {
    const at = placeSegment(scene, segment);
    const across = at.x1 + kLabelRoom >= 0 && at.x0 <= size.width;
    const down = Math.max(at.y0, at.y) + 30 >= 0 && Math.min(at.y0, at.y) - 30 <= size.height;
    if (across && down) seen.push([segment, at]);
  }
  const ticks = ticksOf(scene);
  const axis = scene.axisAt ?? 0;
  for (const { x } of ticks)
    pen.line(x, axis + kAxis, x, size.height, { colour: scene.theme.rule, width: 1, opacity: 0.45 });
  for (const [segment, at] of seen) {
    pen.part?.(segment, 'band');
    drawBands(pen, scene, segment, at);
  }
  for (const [segment, at] of seen) {
    pen.part?.(segment, 'hill');
    drawEntropy(pen, scene, segment, at);
    pen.part?.(segment, 'line');
    pen.branch(at.x0, at.y0, at.bend, at.y, at.x1, strokeOf(segment, scene));
  }
  // Labels come last, leaves' before all others: nothing is painted over them, and they do not touch each other.
  const room = new LabelRoom();
  for (const [segment, at] of seen) {
    pen.part?.(segment, 'end');
    if (segment.isLeaf) drawLeaf(pen, scene, segment, at, room);
    else drawDecision(pen, scene, at);
  }
  for (const [segment, at] of seen) {
    pen.part?.(segment, 'token');
    drawTokens(pen, scene, segment, at, room);
  }
  for (const [segment, at] of seen) {
    pen.part?.(segment, 'end');
    drawStatistics(pen, scene, segment, at, room);
  }
  pen.part?.(null, 'line');
  if (ticks.length === 0) return;
  // Over the branches that were moved there.
  pen.area([0, axis, size.width, axis, size.width, axis + kAxis, 0, axis + kAxis], scene.theme.paper, 0.92);
  for (const { x, token } of ticks) {
    pen.text(formatCount(token), x, axis + 12, { colour: scene.theme.dim, size: 10, align: 'center' });
  }
}

/** Positions along the top: round numbers of tokens. */
function ticksOf({ view, size, measure }: Scene): { token: number; x: number }[] {
  if (measure !== 'tokens') return [];
  const wanted = 90 / view.sx; // tokens between ticks
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= wanted)!);
  const first = Math.max(0, Math.ceil(-view.tx / view.sx / step) * step);
  const ticks = [];
  const cut = 16; // pixels: half of a label
  for (let token = first; view.tx + token * view.sx <= size.width - cut; token += step) {
    ticks.push({ token, x: view.tx + token * view.sx });
  }
  return ticks;
}

function drawBands(pen: Pen, { theme, winnerPath, chosen, other }: Scene, segment: Segment, at: Placement): void {
  const band = (stroke: Stroke) => pen.branch(at.x0, at.y0, at.bend, at.y, at.x1, stroke);
  if (winnerPath.has(segment)) band({ colour: theme.halo, width: 10 });
  if (chosen.has(segment)) band({ colour: theme.ink, width: 7, opacity: 0.22 });
  if (other.has(segment)) band({ colour: theme.ink, width: 7, opacity: 0.3, dash: [0.1, 10] });
}

/** A low hill above the line where the model was unsure of the token. */
function drawEntropy(pen: Pen, { view, size, theme, tree }: Scene, segment: Segment, at: Placement): void {
  if (view.sy < 13 || segment.length === 0) return;
  const height = Math.min(view.sy * 0.4, 14);
  const full = Math.max(tree.opening?.branch.tauH ?? 2.5, 0.5);
  const column = 2; // pixels
  const from = Math.max(at.bend, 0);
  const to = Math.min(at.x1, size.width);
  const perPixel = segment.length / Math.max(at.x1 - at.x0, 1e-6);
  let points: number[] = [];
  const close = (x: number) => {
    if (points.length > 0) pen.area([...points, x, at.y], theme.markEdge, 0.4);
    points = [];
  };
  for (let x = from; x < to; x += column) {
    const first = Math.floor((x - at.x0) * perPixel);
    const last = Math.max(first + 1, Math.floor((x + column - at.x0) * perPixel));
    const entropy = segment.entropy.max(first, last);
    if (entropy < 0.05) {
      close(x);
      continue;
    }
    if (points.length === 0) points.push(x, at.y);
    const y = at.y - 2 - Math.min(1, entropy / full) * height;
    points.push(x, y, x + column, y);
  }
  close(to);
}

function drawDecision(pen: Pen, { view, theme }: Scene, at: Placement): void {
  const radius = Math.max(3, Math.min(5, view.sy * 0.3));
  pen.glyph('decision', at.x1, at.y, radius, theme.markEdge, theme.mark);
}

/** Why it branches there: entropy and varentropy, below the line. */
function drawStatistics(pen: Pen, { view, theme }: Scene, segment: Segment, at: Placement, room: LabelRoom): void {
  const { decision } = segment;
  if (decision === null || view.sy < 30) return;
  const label = `H ${formatNats(decision.entropy)}  VE ${formatNats(decision.varentropy)}`;
  const width = monoWidth(label.length, 10) * 0.9;
  const [x1, x0] = [at.x1 - 8, at.x1 - 8 - width];
  if (x0 < at.bend || room.until(x0, x1, at.y + 5, at.y + 17) < x1) return;
  room.take({ x0, x1, y0: at.y + 5, y1: at.y + 17 });
  pen.text(label, x1, at.y + 15, { colour: theme.dim, size: 10, align: 'right', halo: theme.paper });
}

function drawLeaf(pen: Pen, scene: Scene, leaf: Segment, at: Placement, room: LabelRoom): void {
  const { tree, theme, view, pulse, size, colours } = scene;
  const colour = colourOf(leaf, scene);
  const isWinner = leaf === tree.winner;
  const small = Math.max(2, Math.min(5, view.sy * 0.32));
  const answer = leaf.ending?.answer ?? null;
  if (leaf.state === 'finished') {
    const { shape } = colours.known(answer);
    pen.glyph(shape, at.x1, at.y, small, colour, shape === 'ring' || shape === 'half' ? theme.paper : colour);
  } else {
    const radius = leaf.state === 'live' ? small * (0.55 + 0.25 * pulse) : small;
    pen.glyph(glyphOf(leaf.state), at.x1, at.y, radius, colour, leaf.state === 'live' ? colour : theme.paper);
  }
  room.take({ x0: at.x1 - small - 2, x1: at.x1 + small + 2, y0: at.y - 3.5, y1: at.y + small });
  if (view.sy < kRowForLeaves) return;
  const labelSize = view.sy < 13 ? 9.5 : 12;
  const [y, top] = [at.y + 4, at.y - labelSize + 4];
  let x = at.x1 + 13;
  const write = (text: string, style: Omit<TextStyle, 'size'> & { size?: number }) => {
    const letters = style.size ?? labelSize;
    pen.text(text, x, y, { size: letters, ...style });
    const end = x + monoWidth(text.length, letters);
    room.take({ x0: x - 2, x1: end + 2, y0: top, y1: y + 3 });
    x = end + 8;
  };
  if (leaf.state === 'finished') {
    if (isWinner) {
      pen.glyph('star', x + 3, at.y, Math.min(4, labelSize / 3), theme.markEdge, theme.markEdge);
      x += 12;
    }
    const text = answer === null || answer === '' ? 'no answer' : fitted(answer.replace(/\s+/g, ' '), 130, labelSize);
    write(text, { colour: theme.ink, mono: true, bold: true });
    const tokens = plural(leafLength(leaf), 'token');
    if (x + monoWidth(tokens.length, labelSize - 1) < size.width) {
      write(tokens, { colour: theme.dim, size: labelSize - 1 });
    }
  } else if (leaf.state === 'live' || leaf.state === 'cut') {
    const left = Math.min(190, size.width - x - 6);
    const characters = Math.floor(left / monoWidth(1, kLabelSize));
    if (characters < 4) return;
    write(`…${textTail(leaf, characters - 1).trimEnd()}`, {
      colour: leaf.state === 'live' ? theme.state.live : theme.dim,
      size: labelSize - 1,
      mono: true,
    });
  } else {
    write(kStateWords[leaf.state], { colour: theme.dim, size: labelSize - 1 });
  }
}

/** The token a decision gave, with its probability; or every token, where there is room to read them. */
function drawTokens(pen: Pen, scene: Scene, segment: Segment, at: Placement, room: LabelRoom): void {
  const { view, size, theme, measure } = scene;
  if (view.sy < kRowForLabels || segment.length === 0) return;
  const halo = theme.paper;
  const above = (distance: number) => at.y - distance;
  if (measure === 'tokens' && view.sx >= kTokenRoom) {
    const first = Math.max(0, Math.floor(-at.x0 / view.sx));
    const last = Math.min(segment.length, Math.ceil((size.width - at.x0) / view.sx));
    for (let i = first; i < last; ++i) {
      const decided = i === 0 && segment.parent !== null;
      const x = decided ? Math.max(at.x0 + i * view.sx, at.bend) : at.x0 + i * view.sx;
      const text = fitted(visibleToken(segment.pieces[i]!), at.x0 + (i + 1) * view.sx - x - 3, kLabelSize);
      pen.text(text, x + 2, above(5), { colour: theme.ink, size: kLabelSize, mono: true, bold: decided, halo });
    }
    return;
  }
  if (segment.parent === null) return;
  // A short branch's label may run on over what comes after it, as far as nothing else is written there.
  const x = Math.min(at.bend, at.x1) + 3;
  const whole = firstToken(segment);
  const wanted = x + monoWidth(whole.length, kLabelSize);
  // Where a branch has just begun, what it wrote last stands right after it: the label goes above that.
  const y = above(segment.isLeaf && wanted > at.x1 - 6 && view.sy >= kRowForTwo ? 9 : 5);
  const [y0, y1] = [y - kLabelSize + 2, y + 1];
  const end = room.until(x, wanted, y0, y1);
  const token = fitted(whole, end - x + 0.5, kLabelSize);
  if (token === '') return;
  const used = x + monoWidth(token.length, kLabelSize);
  room.take({ x0: x - 2, x1: used + 4, y0, y1 });
  pen.text(token, x, y, { colour: theme.ink, size: kLabelSize, mono: true, halo });
  const share = formatProbability(segment.logprob.at(0));
  const after = used + 6;
  const shareEnd = after + monoWidth(share.length, 10);
  if (shareEnd > at.x1 - 6 || room.until(after, shareEnd, y0, y1) < shareEnd) return;
  room.take({ x0: after, x1: shareEnd + 2, y0, y1 });
  pen.text(share, after, y, { colour: theme.dim, size: 10, halo });
}
