import { glyphLines, glyphPoints, type Glyph, type Pen, type Stroke, type TextStyle } from './pen';
import type { Theme } from './theme';

const kNoDash: number[] = [];

export class CanvasPen implements Pen {
  #font = '';

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly theme: Theme,
  ) {
    context.lineCap = 'round';
    context.lineJoin = 'round';
    context.textBaseline = 'alphabetic';
  }

  branch(x0: number, y0: number, bend: number, y1: number, x1: number, stroke: Stroke): void {
    const { context } = this;
    context.beginPath();
    context.moveTo(x0, y0);
    if (y0 !== y1) {
      const middle = (x0 + bend) / 2;
      context.bezierCurveTo(middle, y0, middle, y1, bend, y1);
    }
    context.lineTo(x1, y1);
    this.#stroke(stroke);
  }

  line(x0: number, y0: number, x1: number, y1: number, stroke: Stroke): void {
    this.context.beginPath();
    this.context.moveTo(x0, y0);
    this.context.lineTo(x1, y1);
    this.#stroke(stroke);
  }

  area(points: readonly number[], colour: string, opacity: number): void {
    this.#polygon(points);
    this.context.globalAlpha = opacity;
    this.context.fillStyle = colour;
    this.context.fill();
    this.context.globalAlpha = 1;
  }

  glyph(glyph: Glyph, x: number, y: number, radius: number, colour: string, fill: string): void {
    const { context } = this;
    const points = glyphPoints(glyph, x, y, radius);
    const lines = glyphLines(glyph, x, y, radius);
    context.beginPath();
    if (points !== null) {
      this.#polygon(points);
    } else if (lines !== null) {
      for (const [x0, y0, x1, y1] of lines) {
        context.moveTo(x0, y0);
        context.lineTo(x1, y1);
      }
    } else {
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    if (lines === null) {
      context.fillStyle = fill;
      context.fill();
    }
    this.#stroke({ colour, width: 2 });
    if (glyph !== 'half') return;
    context.beginPath();
    context.arc(x, y, radius, Math.PI / 2, Math.PI * 1.5);
    context.fillStyle = colour;
    context.fill();
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const { context, theme } = this;
    const font = `${style.bold === true ? '600 ' : ''}${style.size}px ${style.mono === true ? theme.mono : theme.sans}`;
    // Browsers parse a font again each time it is set.
    if (font !== this.#font) context.font = this.#font = font;
    context.textAlign = style.align ?? 'left';
    if (style.halo !== undefined) {
      context.setLineDash(kNoDash);
      context.lineWidth = 3;
      context.strokeStyle = style.halo;
      context.strokeText(text, x, y);
    }
    context.fillStyle = style.colour;
    context.fillText(text, x, y);
  }

  #polygon(points: readonly number[]): void {
    this.context.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) {
      if (i === 0) this.context.moveTo(points[0]!, points[1]!);
      else this.context.lineTo(points[i]!, points[i + 1]!);
    }
    this.context.closePath();
  }

  #stroke({ colour, width, dash, opacity }: Stroke): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash === undefined ? kNoDash : [...dash]);
    context.globalAlpha = opacity ?? 1;
    context.stroke();
    context.globalAlpha = 1;
  }
}
