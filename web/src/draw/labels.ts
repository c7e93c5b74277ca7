/** Labels that keep out of each other's way: what has no room is shortened, and left out when nothing would be left. */
import { monoWidth } from './pen';

export interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** As much of `text` as fits into `room` pixels, with an ellipsis; '' when not even three characters do. */
export function fitted(text: string, room: number, size: number): string {
  const most = Math.floor(room / monoWidth(1, size));
  if (text.length <= most) return text;
  return most < 3 ? '' : `${text.slice(0, most - 1)}…`;
}

const kBand = 32; // pixels: boxes are looked for among those of their own height on the screen

export class LabelRoom {
  readonly #bands = new Map<number, Box[]>();

  /** How far right a label from (x0, y0) to y1 can go without touching one that is there. At most `wanted`. */
  until(x0: number, wanted: number, y0: number, y1: number): number {
    let end = wanted;
    for (const box of this.#near(y0, y1)) {
      if (box.y1 <= y0 || box.y0 >= y1 || box.x1 <= x0) continue;
      end = Math.min(end, box.x0);
    }
    return end;
  }

  take(box: Box): void {
    for (let band = Math.floor(box.y0 / kBand); band <= Math.floor(box.y1 / kBand); ++band) {
      const there = this.#bands.get(band);
      if (there === undefined) this.#bands.set(band, [box]);
      else there.push(box);
    }
  }

  #near(y0: number, y1: number): Set<Box> {
    const near = new Set<Box>();
    for (let band = Math.floor(y0 / kBand); band <= Math.floor(y1 / kBand); ++band) {
      for (const box of this.#bands.get(band) ?? []) near.add(box);
    }
    return near;
  }
}
