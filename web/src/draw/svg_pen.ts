import { starPoints, type Glyph, type Pen, type Stroke, type TextStyle } from './pen';
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
    const r = radius * 0.8;
    const polygon = (points: number[]) => `<polygon points="${points.map(number).join(' ')}" ${look}/>`;
    switch (glyph) {
      case 'dot':
      case 'ring':
        this.#elements.push(`<circle cx="${number(x)}" cy="${number(y)}" r="${number(radius)}" ${look}/>`);
        break;
      case 'star':
        this.#elements.push(polygon(starPoints(x, y, radius * 1.5)));
        break;
      case 'diamond':
        this.#elements.push(polygon([x, y - radius, x + radius, y, x, y + radius, x - radius, y]));
        break;
      case 'square':
        this.#elements.push(polygon([x - r, y - r, x + r, y - r, x + r, y + r, x - r, y + r]));
        break;
      case 'cross':
        for (const [dx, dy] of [[r, r] as const, [r, -r] as const]) {
          this.line(x - dx, y - dy, x + dx, y + dy, { colour, width: 2 });
        }
        break;
      case 'bar':
        this.line(x, y - radius, x, y + radius, { colour, width: 2 });
        break;
    }
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const anchor = { left: 'start', center: 'middle', right: 'end' }[style.align ?? 'left'];
    const family = escapeXml(style.mono === true ? this.theme.mono : this.theme.sans);
    const weight = style.bold === true ? ' font-weight="600"' : '';
    this.#elements.push(
      `<text x="${number(x)}" y="${number(y)}" font-family="${family}" font-size="${style.size}"${weight}` +
        ` text-anchor="${anchor}" fill="${escapeXml(style.colour)}" xml:space="preserve">${escapeXml(text)}</text>`,
    );
  }

  /** The whole file. */
  document(width: number, height: number, title: string): string {
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}"` +
        ` width="${number(width)}" height="${number(height)}" role="img">`,
      `<title>${escapeXml(title)}</title>`,
      `<rect width="100%" height="100%" fill="${escapeXml(this.theme.paper)}"/>`,
      ...this.#elements,
      '</svg>\n',
    ].join('\n');
  }

  #path(d: string, look: string): void {
    this.#elements.push(`<path d="${d}" fill="none" ${look}/>`);
  }

  #stroke({ colour, width, dash, opacity }: Stroke): string {
    const dashes = dash === undefined ? '' : ` stroke-dasharray="${dash.join(' ')}"`;
    const through = opacity === undefined ? '' : ` opacity="${opacity}"`;
    const ends = 'stroke-linecap="round" stroke-linejoin="round"';
    return `stroke="${escapeXml(colour)}" stroke-width="${width}" ${ends}${dashes}${through}`;
  }
}
