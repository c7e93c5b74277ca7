/** Entropy against varentropy, a point a token, with the thresholds that make a decision. */
import type { BranchRule } from '../model/events';
import type { Segment, Tree } from '../model/tree';
import { CanvasPen } from './canvas_pen';
import { Surface } from './surface';
import { formatNats } from './words';

export interface ScatterHit {
  segment: Segment;
  token: number;
  isDecision: boolean;
}

const kCell = 8; // pixels of the grid that points are found by
const kTokensPerFrame = 20000; // a large tree appears over a few frames
const kMargins = { left: 46, right: 16, top: 14, bottom: 38 };
const kThresholdRoom = 96; // pixels that the name of a threshold takes

/** Most tokens are near zero: square roots spread them. */
const scale = Math.sqrt;

export class ScatterView {
  readonly #surface: Surface;
  readonly #points: HTMLCanvasElement = document.createElement('canvas'); // those painted so far
  #tree: Tree;
  #most = { entropy: 1, varentropy: 1 };
  #drawn = new Map<Segment, number>(); // tokens of each that are painted
  #cells = new Map<number, ScatterHit[]>();
  #stale = true;
  #opacity = 0.5; // of a point: many on top of each other must still tell how many

  constructor(
    canvas: HTMLCanvasElement,
    tree: Tree,
    private readonly onPoint: (hit: ScatterHit | null, x: number, y: number) => void,
    private readonly onChoose: (segment: Segment) => void,
  ) {
    this.#tree = tree;
    this.#surface = new Surface(
      canvas,
      () => this.#paint(),
      () => (this.#stale = true),
    );
    canvas.addEventListener('pointermove', this.#pointed);
    canvas.addEventListener('pointerleave', this.#left);
    canvas.addEventListener('click', this.#clicked);
  }

  destroy(): void {
    const { canvas } = this.#surface;
    canvas.removeEventListener('pointermove', this.#pointed);
    canvas.removeEventListener('pointerleave', this.#left);
    canvas.removeEventListener('click', this.#clicked);
    this.#surface.destroy();
  }

  setTree(tree: Tree): void {
    if (tree !== this.#tree) {
      this.#tree = tree;
      this.#most = { entropy: 1, varentropy: 1 };
      this.#stale = true;
    }
    this.#surface.invalidate();
  }

  #x(entropy: number): number {
    const room = this.#surface.size.width - kMargins.left - kMargins.right;
    return kMargins.left + (scale(Math.max(0, entropy)) / scale(this.#most.entropy)) * room;
  }

  #y(varentropy: number): number {
    const { height } = this.#surface.size;
    const room = height - kMargins.top - kMargins.bottom;
    return height - kMargins.bottom - (scale(Math.max(0, varentropy)) / scale(this.#most.varentropy)) * room;
  }

  /** Widens the axes when a point lies beyond them; in leaps, since all points move then. */
  #widen(): void {
    const branch = this.#tree.opening?.branch;
    const finite = (value: number | undefined, fallback: number) =>
      value !== undefined && Number.isFinite(value) ? value : fallback;
    let entropy = Math.max(this.#most.entropy, 1.4 * finite(branch?.tauH, 2.5));
    let varentropy = Math.max(this.#most.varentropy, 2.5 * finite(branch?.tauV, 1.5));
    for (const segment of this.#tree.segments.values()) {
      const from = this.#drawn.get(segment) ?? 0;
      const [h, v] = [segment.entropy.max(from, segment.length), segment.varentropy.max(from, segment.length)];
      if (h > entropy) entropy = h * 1.2;
      if (v > varentropy) varentropy = v * 1.2;
    }
    if (entropy === this.#most.entropy && varentropy === this.#most.varentropy) return;
    this.#most = { entropy, varentropy };
    this.#stale = true;
  }

  #paint(): void {
    this.#widen();
    const { size, theme } = this.#surface;
    const ratio = devicePixelRatio;
    if (this.#stale) {
      this.#points.width = Math.round(size.width * ratio);
      this.#points.height = Math.round(size.height * ratio);
      this.#drawn = new Map();
      this.#cells = new Map();
      this.#opacity = this.#tree.tokens > kTokensPerFrame ? 0.12 : 0.5;
      this.#stale = false;
    }
    const context = this.#points.getContext('2d')!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    let room = kTokensPerFrame;
    for (const segment of this.#tree.segments.values()) {
      const from = this.#drawn.get(segment) ?? 0;
      const to = Math.min(segment.length, from + room);
      for (let i = from; i < to; ++i) this.#addToken(context, segment, i);
      this.#drawn.set(segment, to);
      room -= to - from;
    }
    if (room === 0) this.#surface.invalidate();
    this.#surface.clear();
    const pen = new CanvasPen(this.#surface.context, theme);
    this.#paintRegion(pen);
    this.#surface.context.drawImage(this.#points, 0, 0, size.width, size.height);
    this.#paintThresholds(pen);
    this.#paintAxes(pen);
    for (const segment of this.#tree.segments.values()) {
      if (segment.decision === null) continue;
      const { entropy, varentropy } = segment.decision;
      pen.glyph('diamond', this.#x(entropy), this.#y(varentropy), 4.5, theme.markEdge, theme.mark);
    }
  }

  #addToken(context: CanvasRenderingContext2D, segment: Segment, token: number): void {
    const isDecision = token === 0 && segment.parent !== null;
    // One decision gives every child its first token, from one distribution.
    if (isDecision && segment.parent!.children[0] !== segment) return;
    const [x, y] = [this.#x(segment.entropy.at(token)), this.#y(segment.varentropy.at(token))];
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    if (!isDecision) {
      context.globalAlpha = this.#opacity;
      context.fillStyle = this.#surface.theme.state.live;
      context.fillRect(x - 1.5, y - 1.5, 3, 3);
    }
    const cell = Math.floor(y / kCell) * 4096 + Math.floor(x / kCell);
    const there = this.#cells.get(cell);
    const hit = { segment, token, isDecision };
    if (there === undefined) this.#cells.set(cell, [hit]);
    else if (isDecision || there.length < 24) there.push(hit); // a crowd in a few pixels cannot be told apart
  }

  get #box() {
    const { width, height } = this.#surface.size;
    const { left, top } = kMargins;
    return { left, top, right: width - kMargins.right, bottom: height - kMargins.bottom };
  }

  /** Where the thresholds are; null when nothing branches. */
  #thresholds(): { branch: BranchRule; x: number; y: number } | null {
    const branch = this.#tree.opening?.branch;
    if (branch?.enabled !== true) return null;
    const x = Math.min(this.#box.right, this.#x(branch.tauH));
    const y = Math.max(this.#box.top, this.#y(Math.min(branch.tauV, this.#most.varentropy)));
    return { branch, x, y };
  }

  /** Where a token is a decision. */
  #paintRegion(pen: CanvasPen): void {
    const at = this.#thresholds();
    if (at === null) return;
    const { branch, x, y } = at;
    const { theme } = this.#surface;
    const { left, right, top, bottom } = this.#box;
    const box = (x0: number, y0: number, x1: number, y1: number) =>
      pen.area([x0, y0, x1, y0, x1, y1, x0, y1], theme.halo, 0.28);
    if (branch.criterion !== 'high-entropy') box(left, top, x, y);
    if (branch.criterion !== 'decision') box(x, top, right, bottom);
  }

  #paintThresholds(pen: CanvasPen): void {
    const at = this.#thresholds();
    if (at === null) return;
    const { branch, x, y } = at;
    const { theme } = this.#surface;
    const { left, right, top, bottom } = this.#box;
    const stroke = { colour: theme.markEdge, width: 1.2, dash: [5, 4] };
    pen.line(x, top, x, bottom, stroke);
    if (branch.criterion !== 'high-entropy') pen.line(left, y, right, y, stroke);
    const label = { colour: theme.dim, size: 11 };
    pen.text(`entropy ${formatNats(branch.tauH)}`, x - 5, bottom - 6, { ...label, align: 'right' });
    if (branch.criterion !== 'high-entropy') {
      const beside = right - x > kThresholdRoom ? right - 2 : x - 5; // not across the other line
      pen.text(`varentropy ${formatNats(branch.tauV)}`, beside, y - 5, { ...label, align: 'right' });
    }
    pen.text('decisions', left + 8, top + 16, { ...label, colour: theme.markEdge, bold: true });
  }

  #paintAxes(pen: CanvasPen): void {
    const { theme } = this.#surface;
    const { left, right, top, bottom } = this.#box;
    const rule = { colour: theme.rule, width: 1 };
    pen.line(left, bottom, right, bottom, rule);
    pen.line(left, top, left, bottom, rule);
    const ticks = [0, 0.1, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];
    const label = { colour: theme.dim, size: 10 };
    for (const tick of ticks) {
      if (tick <= this.#most.entropy) {
        pen.line(this.#x(tick), bottom, this.#x(tick), bottom + 4, rule);
        pen.text(String(tick), this.#x(tick), bottom + 15, { ...label, align: 'center' });
      }
      if (tick <= this.#most.varentropy) {
        pen.line(left - 4, this.#y(tick), left, this.#y(tick), rule);
        pen.text(String(tick), left - 7, this.#y(tick) + 3, { ...label, align: 'right' });
      }
    }
    pen.text('less sure → entropy, nats', right, bottom + 31, { ...label, size: 11, align: 'right' });
    pen.text('varentropy, nats² ↑ torn between a few', left + 4, top - 3, { ...label, size: 11 });
  }

  #nearest(px: number, py: number): ScatterHit | null {
    let best: ScatterHit | null = null;
    let nearest = 10;
    const [column, row] = [Math.floor(px / kCell), Math.floor(py / kCell)];
    for (let dy = -2; dy <= 2; ++dy) {
      for (let dx = -2; dx <= 2; ++dx) {
        for (const hit of this.#cells.get((row + dy) * 4096 + column + dx) ?? []) {
          const x = this.#x(hit.segment.entropy.at(hit.token));
          const y = this.#y(hit.segment.varentropy.at(hit.token));
          const distance = Math.hypot(x - px, y - py) - (hit.isDecision ? 4 : 0);
          if (distance < nearest) [nearest, best] = [distance, hit];
        }
      }
    }
    return best;
  }

  readonly #pointed = (event: PointerEvent) => {
    const hit = this.#nearest(event.offsetX, event.offsetY);
    this.#surface.canvas.style.cursor = hit === null ? 'default' : 'pointer';
    this.onPoint(hit, event.offsetX, event.offsetY);
  };

  readonly #left = () => this.onPoint(null, 0, 0);

  readonly #clicked = (event: MouseEvent) => {
    const hit = this.#nearest(event.offsetX, event.offsetY);
    if (hit !== null) this.onChoose(hit.segment);
  };
}
