/** What the tree is drawn with: the same drawing goes to the screen (canvas_pen.ts) and into a file (svg_pen.ts). */

export interface Stroke {
  colour: string;
  width: number;
  dash?: readonly number[];
  opacity?: number;
}

export interface TextStyle {
  colour: string;
  size: number;
  mono?: boolean;
  bold?: boolean;
  align?: 'left' | 'center' | 'right';
}

/** Shapes tell states apart without colour. */
export type Glyph = 'dot' | 'ring' | 'star' | 'cross' | 'bar' | 'square' | 'diamond';

export interface Pen {
  /** From (x0, y0) in a curve to (bend, y1), then straight to x1. */
  branch(x0: number, y0: number, bend: number, y1: number, x1: number, stroke: Stroke): void;
  line(x0: number, y0: number, x1: number, y1: number, stroke: Stroke): void;
  /** Through the points x, y, x, y, ...; closed. */
  area(points: readonly number[], colour: string, opacity: number): void;
  glyph(glyph: Glyph, x: number, y: number, radius: number, colour: string, fill: string): void;
  /** On the baseline y. */
  text(text: string, x: number, y: number, style: TextStyle): void;
}

/** The width of monospaced text: the same in all pens, so that all leave out the same. */
export function monoWidth(characters: number, size: number): number {
  return characters * size * 0.602;
}

/** The corners of a five-pointed star, x, y, x, y, ... */
export function starPoints(x: number, y: number, radius: number): number[] {
  const points: number[] = [];
  for (let i = 0; i < 10; ++i) {
    const angle = -Math.PI / 2 + (i * Math.PI) / 5;
    const reach = i % 2 === 0 ? radius : radius * 0.45;
    points.push(x + reach * Math.cos(angle), y + reach * Math.sin(angle));
  }
  return points;
}
