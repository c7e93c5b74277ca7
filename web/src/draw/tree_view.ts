/** The tree on the screen: follows it as it grows, zooms, pans, tells what is pointed at. */
import { select } from 'd3-selection';
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomBehavior, type ZoomTransform } from 'd3-zoom';
import { layoutRows, type Rows } from '../layout/rows';
import { layoutSpans, type Measure, type Span } from '../layout/spans';
import { fitView, panView, revealView, zoomView, type Margins, type View } from '../layout/view';
import { pathTo, type Segment, type Tree } from '../model/tree';
import type { AnswerColours } from './answer_colours';
import { CanvasPen } from './canvas_pen';
import { hitTest, type Hit } from './hit';
import { drawTree, placeSegment, type Scene } from './scene';
import { Surface } from './surface';

export interface TreeViewEvents {
  onPoint(hit: Hit | null, x: number, y: number): void;
  onChoose(segment: Segment, compare: boolean): void;
  /** After each painting: where the segment `marked` is, for its focus ring. */
  onPainted(box: { x: number; y: number; width: number } | null): void;
  onFollow(following: boolean): void;
}

const kEmpty: ReadonlySet<Segment> = new Set();
const kEase = 0.28; // of the way to its place, a frame

function margins(width: number): Margins {
  return { left: 24, right: Math.min(220, Math.max(90, width * 0.26)), top: 34, bottom: 18 };
}

export class TreeView {
  readonly #surface: Surface;
  readonly #zoom: ZoomBehavior<HTMLCanvasElement, unknown>;
  #tree: Tree;
  #rows: Rows = { of: new Map(), count: 0 };
  #shape = -1;
  #shown = new Map<Segment, number>(); // rows on their way to their places
  #spans: { of: Map<Segment, Span>; width: number } = { of: new Map(), width: 0 };
  #view: View = { sx: 1, sy: 1, tx: 0, ty: 0 };
  #last: ZoomTransform = zoomIdentity;
  #following = true; // fits itself to the tree until somebody moves it
  #placed = false;
  #measure: Measure = 'tokens';
  #chosen = kEmpty;
  #other = kEmpty;
  #marked: Segment | null = null;

  constructor(
    canvas: HTMLCanvasElement,
    tree: Tree,
    private readonly colours: AnswerColours,
    private readonly events: TreeViewEvents,
  ) {
    this.#tree = tree;
    this.#surface = new Surface(
      canvas,
      (now) => this.#paint(now),
      () => (this.#placed = false),
    );
    this.#zoom = zoom<HTMLCanvasElement, unknown>()
      .scaleExtent([1e-9, 1e9])
      .filter((event: Event) => this.#wants(event))
      .on('zoom', (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => this.#moved(event));
    select(canvas).call(this.#zoom).on('dblclick.zoom', null);
    canvas.addEventListener('pointermove', this.#pointed);
    canvas.addEventListener('pointerleave', this.#left);
    canvas.addEventListener('click', this.#clicked);
  }

  destroy(): void {
    const { canvas } = this.#surface;
    select(canvas).on('.zoom', null);
    canvas.removeEventListener('pointermove', this.#pointed);
    canvas.removeEventListener('pointerleave', this.#left);
    canvas.removeEventListener('click', this.#clicked);
    this.#surface.destroy();
  }

  setTree(tree: Tree): void {
    if (tree === this.#tree) return;
    this.#tree = tree;
    this.#shape = -1;
    this.#shown = new Map();
    this.fit();
  }

  setMeasure(measure: Measure): void {
    if (measure === this.#measure) return;
    this.#measure = measure;
    this.fit();
  }

  setPaths(chosen: Segment | null, other: Segment | null): void {
    this.#chosen = chosen === null ? kEmpty : new Set(pathTo(chosen));
    this.#other = other === null ? kEmpty : new Set(pathTo(other));
    this.invalidate();
  }

  setMarked(segment: Segment | null): void {
    this.#marked = segment;
    this.invalidate();
  }

  invalidate(): void {
    this.#surface.invalidate();
  }

  fit(): void {
    this.#setFollowing(true);
    this.invalidate();
  }

  zoomBy(factor: number): void {
    const { width, height } = this.#surface.size;
    this.#setFollowing(false);
    this.#view = zoomView(this.#view, factor, width / 2, height / 2);
    this.invalidate();
  }

  reveal(segment: Segment): void {
    const span = this.#spans.of.get(segment);
    if (span === undefined || this.#following) return;
    const x = segment.isLeaf ? span.x1 : (span.x0 + span.x1) / 2;
    this.#view = revealView(this.#view, x, this.#rowOf(segment), this.#surface.size);
    this.invalidate();
  }

  #setFollowing(following: boolean): void {
    if (following === this.#following) return;
    this.#following = following;
    // While all of the tree is seen a finger on it scrolls the page.
    this.#surface.canvas.style.touchAction = following ? 'pan-y' : 'none';
    this.events.onFollow(following);
  }

  #wants(event: Event): boolean {
    if (event instanceof MouseEvent && event.type === 'mousedown') return event.button === 0 && !event.shiftKey;
    if ('touches' in event) return !this.#following || (event as TouchEvent).touches.length > 1;
    return true;
  }

  /** d3 tells gestures as a transform of its own; only how it changes matters, since rows and width scale apart. */
  #moved({ transform, sourceEvent }: D3ZoomEvent<HTMLCanvasElement, unknown>): void {
    const before = this.#last;
    this.#last = transform;
    if (sourceEvent === null) return;
    const ratio = transform.k / before.k;
    if (Math.abs(ratio - 1) < 1e-9) {
      const [dx, dy] = [transform.x - before.x, transform.y - before.y];
      this.#view = panView(this.#view, dx, dy, this.#spans.width, this.#rows.count, this.#surface.size);
    } else {
      const px = (transform.x - ratio * before.x) / (1 - ratio);
      const py = (transform.y - ratio * before.y) / (1 - ratio);
      this.#view = zoomView(this.#view, ratio, px, py);
    }
    this.#setFollowing(false);
    this.invalidate();
  }

  #rowOf(segment: Segment): number {
    return this.#shown.get(segment) ?? this.#rows.of.get(segment) ?? 0;
  }

  /** Takes one step towards the places of everything. True while there is more to go. */
  #settle(): boolean {
    if (this.#tree.shape !== this.#shape) {
      this.#shape = this.#tree.shape;
      this.#rows = layoutRows(this.#tree);
    }
    this.#spans = layoutSpans(this.#tree, this.#measure);
    const jump = this.#surface.reducedMotion || !this.#placed;
    let moving = false;
    const step = (from: number, to: number, enough: number) => {
      if (jump || Math.abs(to - from) < enough) return to;
      moving = true;
      return from + (to - from) * kEase;
    };
    for (const [segment, row] of this.#rows.of) {
      const above = segment.parent === null ? row : (this.#shown.get(segment.parent) ?? row);
      this.#shown.set(segment, step(this.#shown.get(segment) ?? above, row, 0.01));
    }
    if (this.#following) {
      const { size } = this.#surface;
      const goal = fitView(this.#spans.width, this.#rows.count, size, margins(size.width));
      const { sx, sy, tx, ty } = this.#view;
      const k = step(Math.log(sx), Math.log(goal.sx), 1e-4);
      this.#view = {
        sx: Math.exp(k),
        sy: step(sy, goal.sy, 0.05),
        tx: step(tx, goal.tx, 0.2),
        ty: step(ty, goal.ty, 0.2),
      };
    }
    this.#placed = true;
    return moving;
  }

  #scene(pulse: number): Scene {
    const { winner } = this.#tree;
    return {
      tree: this.#tree,
      rowOf: (segment) => this.#rowOf(segment),
      spans: this.#spans.of,
      measure: this.#measure,
      view: this.#view,
      size: this.#surface.size,
      theme: this.#surface.theme,
      colours: this.colours,
      winnerPath: winner === null ? kEmpty : new Set(pathTo(winner)),
      chosen: this.#chosen,
      other: this.#other,
      pulse,
    };
  }

  #paint(now: number): void {
    const moving = this.#settle();
    const still = this.#surface.reducedMotion;
    const pulse = still ? 1 : 0.5 + 0.5 * Math.sin(now / 180);
    const scene = this.#scene(pulse);
    this.#surface.clear();
    drawTree(new CanvasPen(this.#surface.context, scene.theme), scene);
    this.#tellMarked(scene);
    const growing = this.#tree.outcome === null && this.#tree.segments.size > 0;
    if (moving || (growing && !still)) this.invalidate();
  }

  #tellMarked(scene: Scene): void {
    if (this.#marked === null || !this.#spans.of.has(this.#marked)) return this.events.onPainted(null);
    const { x0, x1, y } = placeSegment(scene, this.#marked);
    this.events.onPainted({ x: x0, y, width: Math.max(x1 - x0, 8) });
  }

  #hit(event: MouseEvent): Hit | null {
    return hitTest(this.#scene(1), event.offsetX, event.offsetY);
  }

  readonly #pointed = (event: PointerEvent) => {
    if (event.pointerType === 'touch' || event.buttons !== 0) return this.events.onPoint(null, 0, 0);
    const hit = this.#hit(event);
    this.#surface.canvas.style.cursor = hit === null ? (this.#following ? 'default' : 'grab') : 'pointer';
    this.events.onPoint(hit, event.offsetX, event.offsetY);
  };

  readonly #left = () => this.events.onPoint(null, 0, 0);

  readonly #clicked = (event: MouseEvent) => {
    const hit = this.#hit(event);
    if (hit !== null) this.events.onChoose(hit.segment, event.shiftKey);
  };
}
