/** Draws the tree. One line a segment, whatever number of tokens it has; what is not seen is not drawn. */
import type { Measure, Span } from '../layout/spans';
import type { Size, View } from '../layout/view';
import { textTail } from '../model/branch_text';
import type { Segment, Tree } from '../model/tree';
import { monoWidth, type Pen, type Stroke } from './pen';
import type { Theme } from './theme';
import {
  firstToken,
  formatCount,
  formatNats,
  formatProbability,
  glyphOf,
  kStateWords,
  leafLength,
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
  winnerPath: ReadonlySet<Segment>;
  chosen: ReadonlySet<Segment>; // the path that is being read
  other: ReadonlySet<Segment>; // the path it is compared with
  pulse: number; // 0..1: how large live ends are at this moment
}

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

function strokeOf(segment: Segment, theme: Theme): Stroke {
  const colour = theme.state[segment.state];
  if (segment.state === 'cut') return { colour, width: 1.8, dash: [1, 5] };
  if (segment.state === 'retired') return { colour, width: 1.8, dash: [6, 4] };
  return { colour, width: segment.state === 'split' ? 1.8 : 2.2 };
}

/** As much of `text` as fits, with an ellipsis; '' when not even three characters do. */
function fitted(text: string, room: number, size: number): string {
  const most = Math.floor(room / monoWidth(1, size));
  if (text.length <= most) return text;
  return most < 3 ? '' : `${text.slice(0, most - 1)}…`;
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
  for (const { x } of ticks) pen.line(x, kAxis, x, size.height, { colour: scene.theme.rule, width: 1, opacity: 0.45 });
  for (const [segment, at] of seen) drawBands(pen, scene, segment, at);
  for (const [segment, at] of seen) {
    drawEntropy(pen, scene, segment, at);
    pen.branch(at.x0, at.y0, at.bend, at.y, at.x1, strokeOf(segment, scene.theme));
  }
  for (const [segment, at] of seen) {
    if (!segment.isLeaf) drawDecision(pen, scene, segment, at);
    else drawLeaf(pen, scene, segment, at);
    drawTokens(pen, scene, segment, at);
  }
  if (ticks.length === 0) return;
  // Over the branches that were moved there.
  pen.area([0, 0, size.width, 0, size.width, kAxis, 0, kAxis], scene.theme.paper, 0.92);
  for (const { x, token } of ticks) {
    pen.text(formatCount(token), x, 12, { colour: scene.theme.dim, size: 10, align: 'center' });
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
  for (let token = first; view.tx + token * view.sx <= size.width; token += step) {
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

function drawDecision(pen: Pen, { view, theme }: Scene, segment: Segment, at: Placement): void {
  const radius = Math.max(3, Math.min(5, view.sy * 0.3));
  pen.glyph('diamond', at.x1, at.y, radius, theme.markEdge, theme.mark);
  const { decision } = segment;
  if (decision === null || view.sy < 30 || at.x1 - at.bend < 120) return;
  const label = `H ${formatNats(decision.entropy)}  VE ${formatNats(decision.varentropy)}`;
  pen.text(label, at.x1 - 8, at.y + 15, { colour: theme.dim, size: 10, align: 'right' });
}

function drawLeaf(pen: Pen, scene: Scene, leaf: Segment, at: Placement): void {
  const { tree, theme, view, pulse, size } = scene;
  const colour = theme.state[leaf.state];
  const isWinner = leaf === tree.winner;
  const small = Math.max(2, Math.min(5, view.sy * 0.32));
  const radius = leaf.state === 'live' ? small * (0.75 + 0.25 * pulse) : small;
  const solid = leaf.state === 'live' || isWinner;
  pen.glyph(glyphOf(leaf.state, isWinner), at.x1, at.y, radius, colour, solid ? colour : theme.paper);
  if (view.sy < kRowForLeaves) return;
  const x = at.x1 + 13;
  const y = at.y + 4;
  const labelSize = view.sy < 13 ? 9.5 : 12;
  const answer = leaf.ending?.answer ?? null;
  if (leaf.state === 'finished') {
    const text = answer === null || answer === '' ? 'no answer' : fitted(answer.replace(/\s+/g, ' '), 130, labelSize);
    pen.text(text, x, y, { colour: theme.ink, size: labelSize, mono: true, bold: true });
    if (size.width - x > 220) {
      const after = x + monoWidth(text.length, labelSize) + 8;
      pen.text(`${formatCount(leafLength(leaf))} tokens`, after, y, { colour: theme.dim, size: labelSize - 1 });
    }
  } else if (leaf.state === 'live' || leaf.state === 'cut') {
    const room = Math.min(190, size.width - x - 6);
    const characters = Math.floor(room / monoWidth(1, kLabelSize));
    if (characters < 4) return;
    const style = { colour: leaf.state === 'live' ? theme.state.live : theme.dim, size: labelSize - 1, mono: true };
    pen.text(`…${textTail(leaf, characters - 1).trimEnd()}`, x, y, style);
  } else {
    pen.text(kStateWords[leaf.state], x, y, { colour, size: labelSize - 1 });
  }
}

/** The token a decision gave, with its probability; or every token, where there is room to read them. */
function drawTokens(pen: Pen, { view, size, theme, measure }: Scene, segment: Segment, at: Placement): void {
  if (view.sy < kRowForLabels || segment.length === 0) return;
  const y = at.y - 6;
  if (measure === 'tokens' && view.sx >= kTokenRoom) {
    const first = Math.max(0, Math.floor(-at.x0 / view.sx));
    const last = Math.min(segment.length, Math.ceil((size.width - at.x0) / view.sx));
    for (let i = first; i < last; ++i) {
      const decided = i === 0 && segment.parent !== null;
      const x = decided ? Math.max(at.x0 + i * view.sx, at.bend) : at.x0 + i * view.sx;
      const text = fitted(visibleToken(segment.pieces[i]!), at.x0 + (i + 1) * view.sx - x - 3, kLabelSize);
      pen.text(text, x + 2, y, { colour: theme.ink, size: kLabelSize, mono: true, bold: decided });
    }
    return;
  }
  if (segment.parent === null) return;
  const room = at.x1 - at.bend - 8;
  const token = fitted(firstToken(segment), room, kLabelSize);
  if (token === '') return;
  pen.text(token, at.bend + 3, y, { colour: theme.ink, size: kLabelSize, mono: true });
  const share = formatProbability(segment.logprob.at(0));
  const after = at.bend + 3 + monoWidth(token.length, kLabelSize) + 6;
  if (after + monoWidth(share.length, 10) > at.x1 - 6) return;
  pen.text(share, after, y, { colour: theme.dim, size: 10 });
}
