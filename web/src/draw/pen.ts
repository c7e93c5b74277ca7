/** What the tree is drawn with: the same drawing goes to the screen (canvas_pen.ts) and into a file (svg_pen.ts). */
import type { Segment } from '../model/tree';
import type { AnswerShape } from './answer_colours';
import type { Part } from './scene';

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
  halo?: string; // the colour around its letters, where something lies below them
  align?: 'left' | 'center' | 'right';
}

/** Shapes tell states and answers apart without colour. */
export type Glyph = 'dot' | 'star' | 'wall' | 'fall' | 'bar' | 'decision' | AnswerShape;

export interface Pen {
  /** What follows belongs to this part of a segment; null: to none. */
  part?(segment: Segment | null, part: Part): void;
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

/** The corners of a glyph, x, y, x, y, ...; null for those that are round or only lines. */
export function glyphPoints(glyph: Glyph, x: number, y: number, radius: number): number[] | null {
  const r = radius * 0.85;
  const a = radius * 0.38; // half of an arm
  switch (glyph) {
    case 'star':
      return starPoints(x, y, radius * 1.5);
    case 'diamond':
    case 'decision':
      return [x, y - radius, x + radius, y, x, y + radius, x - radius, y];
    case 'square':
      return [x - r, y - r, x + r, y - r, x + r, y + r, x - r, y + r];
    case 'up':
      return [x, y - radius, x + radius, y + r, x - radius, y + r];
    case 'down':
      return [x, y + radius, x + radius, y - r, x - radius, y - r];
    case 'plus':
      return [
        ...[x - a, y - radius, x + a, y - radius, x + a, y - a, x + radius, y - a, x + radius, y + a, x + a, y + a],
        ...[x + a, y + radius, x - a, y + radius, x - a, y + a, x - radius, y + a, x - radius, y - a, x - a, y - a],
      ];
    default:
      return null;
  }
}

/** The strokes of a glyph that is only lines, each x0, y0, x1, y1; null for all others. */
export function glyphLines(
  glyph: Glyph,
  x: number,
  y: number,
  radius: number,
): [number, number, number, number][] | null {
  const [top, bottom] = [y - radius, y + radius];
  const a = radius * 0.6;
  switch (glyph) {
    case 'bar':
      return [[x, top, x, bottom]];
    case 'wall':
      return [
        [x - a / 1.5, top, x - a / 1.5, bottom],
        [x + a / 1.5, top, x + a / 1.5, bottom],
      ];
    case 'fall':
      return [
        [x, top, x, bottom],
        [x - a, bottom - a, x, bottom],
        [x + a, bottom - a, x, bottom],
      ];
    default:
      return null;
  }
}
