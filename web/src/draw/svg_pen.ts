import { glyphLines, glyphPoints, type Glyph, type Pen, type Stroke, type TextStyle } from './pen';
import type { Segment } from '../model/tree';
import type { Part } from './scene';
import type { Theme } from './theme';

/** Text and attribute values. Characters that XML has no word for are left out. */
export function escapeXml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  const allowed = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udfff]/gu, '');
  return allowed.replace(/[&<>"']/g, (character) => entities[character]!);
}

const number = (value: number) => String(Math.round(value * 10) / 10);

export class SvgPen implements Pen {
  readonly #elements: string[] = [];
  #opened = false;
  #class = ''; // of paths
  #pathAttributes = '';

  constructor(private readonly theme: Theme) {}

  branch(x0: number, y0: number, bend: number, y1: number, x1: number, stroke: Stroke): void {
    const middle = number((x0 + bend) / 2);
    const curve = y0 === y1 ? '' : `C${middle} ${number(y0)} ${middle} ${number(y1)} ${number(bend)} ${number(y1)}`;
    this.#path(`M${number(x0)} ${number(y0)}${curve}H${number(x1)}`, this.#stroke(stroke));
  }

  line(x0: number, y0: number, x1: number, y1: number, stroke: Stroke): void {
    this.#path(`M${number(x0)} ${number(y0)}L${number(x1)} ${number(y1)}`, this.#stroke(stroke));
  }

  area(points: readonly number[], colour: string, opacity: number): void {
    const list = points.map(number).join(' ');
    this.#elements.push(`<polygon points="${list}" fill="${escapeXml(colour)}" opacity="${opacity}"/>`);
  }

  glyph(glyph: Glyph, x: number, y: number, radius: number, colour: string, fill: string): void {
    const look = `fill="${escapeXml(fill)}" stroke="${escapeXml(colour)}" stroke-width="2"`;
    const points = glyphPoints(glyph, x, y, radius);
    const lines = glyphLines(glyph, x, y, radius);
    if (points !== null) {
      this.#elements.push(`<polygon points="${points.map(number).join(' ')}" ${look}/>`);
    } else if (lines !== null) {
      for (const [x0, y0, x1, y1] of lines) this.line(x0, y0, x1, y1, { colour, width: 2 });
    } else {
      this.#elements.push(`<circle cx="${number(x)}" cy="${number(y)}" r="${number(radius)}" ${look}/>`);
      if (glyph !== 'half') return;
      const [top, bottom, way] = [number(y - radius), number(y + radius), number(radius)];
      this.#elements.push(
        `<path d="M${number(x)} ${top}A${way} ${way} 0 0 0 ${number(x)} ${bottom}z" fill="${escapeXml(colour)}"/>`,
      );
    }
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const anchor = { left: 'start', center: 'middle', right: 'end' }[style.align ?? 'left'];
    const family = escapeXml(style.mono === true ? this.theme.mono : this.theme.sans);
    const weight = style.bold === true ? ' font-weight="600"' : '';
    const halo =
      style.halo === undefined ? '' : ` stroke="${escapeXml(style.halo)}" stroke-width="3" paint-order="stroke"`;
    this.#elements.push(
      `<text x="${number(x)}" y="${number(y)}" font-family="${family}" font-size="${style.size}"${weight}` +
        ` text-anchor="${anchor}" fill="${escapeXml(style.colour)}"${halo} xml:space="preserve">${escapeXml(text)}</text>`,
    );
  }

  /** What follows is in a group of this class, until it is closed; `pathAttributes` go on its paths. */
  open(className: string, pathAttributes = ''): void {
    this.#opened = true;
    this.#pathAttributes = pathAttributes;
    this.#elements.push(pathAttributes === '' ? `<g class="${escapeXml(className)}">` : '');
    this.#class = pathAttributes === '' ? '' : ` class="${escapeXml(className)}"`;
  }

  close(): void {
    if (this.#opened && this.#class === '') this.#elements.push('</g>');
    this.#opened = false;
    this.#pathAttributes = this.#class = '';
  }

  part(_segment: Segment | null, _part: Part): void {
    // A picture shows all of it at once.
  }

  /** The whole file. */
  document(width: number, height: number, title: string, style = ''): string {
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}"` +
        ` width="${number(width)}" height="${number(height)}" role="img">`,
      `<title>${escapeXml(title)}</title>`,
      ...(style === '' ? [] : [`<style>\n${style}\n</style>`]),
      `<rect width="100%" height="100%" fill="${escapeXml(this.theme.paper)}"/>`,
      ...this.#elements.filter((element) => element !== ''),
      '</svg>\n',
    ].join('\n');
  }

  #path(d: string, look: string): void {
    this.#elements.push(`<path${this.#class} d="${d}" fill="none" ${look}${this.#pathAttributes}/>`);
  }

  #stroke({ colour, width, dash, opacity }: Stroke): string {
    const dashes = dash === undefined ? '' : ` stroke-dasharray="${dash.join(' ')}"`;
    const through = opacity === undefined ? '' : ` opacity="${opacity}"`;
    const ends = 'stroke-linecap="round" stroke-linejoin="round"';
    return `stroke="${escapeXml(colour)}" stroke-width="${width}" ${ends}${dashes}${through}`;
  }
}
