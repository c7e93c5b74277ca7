/**
 * A run as a film: an SVG file that plays by itself in any browser, from the first token to the last vote, over and over.
 * Where nothing plays it (in print, or where the system asks for no motion) it is the picture of the end.
 */
import type { Shown } from '../app/shown';
import { layoutRows } from '../layout/rows';
import { layoutSpans } from '../layout/spans';
import { fitView } from '../layout/view';
import { stretchesOf } from '../model/replay';
import { pathTo, type Segment } from '../model/tree';
import { fitted } from './labels';
import { monoWidth, type Stroke } from './pen';
import { drawTree, type Part } from './scene';
import { SvgPen } from './svg_pen';
import type { Theme } from './theme';

const kRowHeight = 28;
const kMargins = { left: 24, right: 230, top: 96, bottom: 14 };
const kPauseSeconds = 3; // at the end, before it starts again
const kVoteRow = 22;
const kMostAnswers = 8;
const kTicks = 400; // moments that are told apart: what is shown together shares its rules

/** Rules of when things appear, each written once. */
class Moments {
  readonly #rules = new Map<string, string>();

  constructor(
    private readonly steps: number,
    private readonly share: number, // of the film that is not the pause
  ) {}

  /** When a step is over, in hundredths of the film. */
  #percent(step: number): number {
    const tick = Math.round((Math.min(Math.max(step, 0), this.steps) / Math.max(this.steps, 1)) * kTicks);
    return (tick / kTicks) * this.share * 100;
  }

  /** The class of what appears once `step` is over. */
  appears(step: number): string {
    const at = this.#percent(step);
    const name = `a${Math.round(at * 100)}`;
    this.#rules.set(
      name,
      `@keyframes ${name}{0%,${at.toFixed(2)}%{opacity:0}${(at + 0.01).toFixed(2)}%,100%{opacity:1}}`,
    );
    return name;
  }

  /**
   * The class of a line that is drawn from `from` to `to`, and gives way to another then. Its bend takes `time` of that
   * and is `length` of the line: a line grows to the right as fast as all others, however far up or down it goes.
   */
  grows(from: number, to: number, bend: { time: number; length: number }): string {
    const [a, b] = [this.#percent(from), Math.max(this.#percent(to), this.#percent(from) + 0.04)];
    const turn = a + (b - a) * bend.time;
    const rest = (1 - bend.length).toFixed(3);
    const name = `g${[a, turn, b].map((at) => Math.round(at * 100)).join('_')}_${rest.slice(2)}`;
    const turned = bend.time > 0 && bend.time < 1 ? `${turn.toFixed(2)}%{stroke-dashoffset:${rest};opacity:1}` : '';
    this.#rules.set(
      name,
      `@keyframes ${name}{0%,${a.toFixed(2)}%{stroke-dashoffset:1;opacity:1}${turned}` +
        `${b.toFixed(2)}%{stroke-dashoffset:0;opacity:1}${(b + 0.01).toFixed(2)}%,100%{stroke-dashoffset:0;opacity:0}}`,
    );
    return name;
  }

  styles(seconds: number): string {
    const names = [...this.#rules.keys()];
    return [
      '.grows{stroke-dasharray:1;opacity:0}',
      '@media (prefers-reduced-motion: no-preference){',
      `.film{animation-duration:${seconds.toFixed(2)}s;animation-iteration-count:infinite;animation-timing-function:linear}`,
      ...names.map((name) => `.${name}{animation-name:${name}}`),
      '}',
      ...this.#rules.values(),
    ].join('\n');
  }
}

/** How long the curve is that leads `across` and `down` (svg_pen.ts). */
function bendLength(across: number, down: number): number {
  if (down === 0) return across;
  const pieces = 16;
  const at = (t: number) => [across * (1.5 * t * (1 - t) + t ** 3), down * (3 * t * t - 2 * t ** 3)] as const;
  let length = 0;
  for (let i = 1; i <= pieces; ++i) {
    const [[x0, y0], [x1, y1]] = [at((i - 1) / pieces), at(i / pieces)];
    length += Math.hypot(x1 - x0, y1 - y0);
  }
  return length;
}

/** Puts what is drawn of a segment into groups that appear in their time. */
class FilmPen extends SvgPen {
  constructor(
    theme: Theme,
    private readonly moments: Moments,
    private readonly when: (segment: Segment, part: Part) => number,
    private readonly stretch: (segment: Segment) => { from: number; to: number },
    private readonly live: string,
  ) {
    super(theme);
  }

  override part(segment: Segment | null, part: Part): void {
    this.close();
    if (segment === null) return;
    this.open(`film ${this.moments.appears(this.when(segment, part))}`);
    this.#drawing = part === 'line' ? segment : null;
  }

  #drawing: Segment | null = null;

  override branch(x0: number, y0: number, bend: number, y1: number, x1: number, stroke: Stroke): void {
    super.branch(x0, y0, bend, y1, x1, stroke);
    if (this.#drawing === null) return;
    // Before it has an answer it grows as all others do.
    const { from, to } = this.stretch(this.#drawing);
    this.close();
    const turn = bendLength(bend - x0, y1 - y0);
    const shares = {
      time: (bend - x0) / Math.max(x1 - x0, 1e-6),
      length: turn / Math.max(turn + x1 - bend, 1e-6),
    };
    this.open(`film grows ${this.moments.grows(from, to, shares)}`, ' pathLength="1"');
    super.branch(x0, y0, bend, y1, x1, { colour: this.live, width: 1.8 });
    this.#drawing = null;
  }
}

/** `speed` in steps a second. */
export function treeFilm(run: Shown, theme: Theme, speed: number): string {
  const { tree } = run;
  const rows = layoutRows(tree);
  const spans = layoutSpans(tree, 'tokens');
  const { of: stretches, steps } = stretchesOf(tree);
  const answers = tree.votes.slice(0, kMostAnswers).map(({ answer }) => answer);
  const treeHeight = kMargins.top + kMargins.bottom + rows.count * kRowHeight;
  const size = { width: Math.min(2400, Math.max(960, spans.width * 6)), height: treeHeight };
  const height = treeHeight + (answers.length === 0 ? 0 : 34 + answers.length * kVoteRow);
  const playing = Math.max(1, steps / Math.max(speed, 0.1));
  const seconds = playing + kPauseSeconds;
  const moments = new Moments(steps, playing / seconds);
  const stretch = (segment: Segment) => stretches.get(segment)!;
  const when = (segment: Segment, part: Part) => {
    if (part === 'band') return steps;
    return part === 'token' ? stretch(segment).from + 1 : stretch(segment).to;
  };
  const pen = new FilmPen(theme, moments, when, stretch, theme.state.live);
  const heading = fitted(run.question.replace(/\s+/g, ' '), (size.width - 48) * 0.92, 15);
  pen.text(heading, 24, 30, { colour: theme.ink, size: 15, bold: true });
  const about = [tree.opening?.model ?? '', tree.opening?.methodName ?? '', `${speed} steps a second`];
  pen.text(about.filter((text) => text !== '').join(' · '), 24, 50, { colour: theme.dim, size: 12 });
  const nothing: ReadonlySet<Segment> = new Set();
  drawTree(pen, {
    tree,
    rowOf: (segment) => rows.of.get(segment) ?? 0,
    spans: spans.of,
    measure: 'tokens',
    view: fitView(spans.width, rows.count, size, kMargins),
    size,
    theme,
    colours: run.colours,
    winnerPath: tree.winner === null ? nothing : new Set(pathTo(tree.winner)),
    chosen: nothing,
    other: nothing,
    pulse: 1,
    axisAt: kMargins.top - 32,
  });
  pen.part(null, 'line');
  drawVotes(pen, run, theme, answers, treeHeight, (leaf) => moments.appears(stretch(leaf).to), moments.appears(steps));
  return pen.document(size.width, height, run.question, moments.styles(seconds));
}

/** A block for each vote, in the moment it was given. */
function drawVotes(
  pen: FilmPen,
  run: Shown,
  theme: Theme,
  answers: string[],
  top: number,
  given: (leaf: Segment) => string,
  last: string,
): void {
  if (answers.length === 0) return;
  const { tree, colours } = run;
  pen.text('Votes', 24, top + 14, { colour: theme.dim, size: 12, bold: true });
  const labels = answers.map((answer) => fitted(answer.replace(/\s+/g, ' '), 160, 12));
  const left = 60 + Math.max(...labels.map((label) => monoWidth(label.length, 12)));
  answers.forEach((answer, row) => {
    const y = top + 36 + row * kVoteRow;
    const colour = colours.known(answer);
    const leaves = tree.finishedLeaves.filter((leaf) => leaf.ending?.answer === answer);
    leaves.forEach((leaf, i) => {
      pen.open(`film ${given(leaf)}`);
      if (i === 0) {
        pen.glyph(colour.shape, 32, y - 4, 5, theme.answer(colour), theme.answer(colour));
        pen.text(labels[row]!, 46, y, { colour: theme.ink, size: 12, mono: true });
      }
      const x = left + i * 14;
      pen.area([x, y - 11, x + 11, y - 11, x + 11, y, x, y], theme.answer(colour), 1);
      pen.close();
    });
    const wins = answer === tree.outcome?.answer;
    pen.open(`film ${last}`);
    pen.text(`${leaves.length}${wins ? '  ★ wins' : ''}`, left + leaves.length * 14 + 6, y, {
      colour: theme.ink,
      size: 12,
      bold: wins,
    });
    pen.close();
  });
}
