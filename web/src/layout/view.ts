/** What part of the drawing is seen. Both directions scale apart: rows keep a height at which they can be read. */

export interface View {
  sx: number; // pixels per unit of width
  sy: number; // pixels per row
  tx: number; // where x = 0 is, in pixels
  ty: number; // where row 0 is
}

export interface Size {
  width: number;
  height: number;
}

export interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const kWidestUnit = 90; // pixels a token, enough to read it
const kHighestRow = 64;
const kLowestRow = 3;
const kWidestFit = 14;

const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);

/** All of a drawing of `width` units and `rows` rows. */
export function fitView(width: number, rows: number, size: Size, margins: Margins): View {
  const roomX = Math.max(40, size.width - margins.left - margins.right);
  const roomY = Math.max(20, size.height - margins.top - margins.bottom);
  const sx = clamp(roomX / Math.max(width, 1), 0.001, kWidestFit);
  const sy = clamp(roomY / Math.max(rows, 1), kLowestRow, kHighestRow - 8);
  const spare = Math.max(0, roomY - rows * sy);
  return { sx, sy, tx: margins.left, ty: margins.top + sy / 2 + spare / 2 };
}

/** Scaled by `factor` around the point (px, py), which stays where it is. */
export function zoomView(view: View, factor: number, px: number, py: number): View {
  const sx = clamp(view.sx * factor, 0.01, kWidestUnit);
  const sy = clamp(view.sy * factor, kLowestRow, Math.max(kHighestRow, view.sy));
  return { sx, sy, tx: px - ((px - view.tx) * sx) / view.sx, ty: py - ((py - view.ty) * sy) / view.sy };
}

/** Moved, but never so far that nothing of the drawing is seen. */
export function panView(view: View, dx: number, dy: number, width: number, rows: number, size: Size): View {
  const keep = 60;
  return {
    ...view,
    tx: clamp(view.tx + dx, keep - width * view.sx, size.width - keep),
    ty: clamp(view.ty + dy, keep - rows * view.sy, size.height - keep),
  };
}

/** Moved as little as shows the point (x, row), with some room around it. */
export function revealView(view: View, x: number, row: number, size: Size): View {
  const room = { x: Math.min(80, size.width / 4), y: Math.min(40, size.height / 4) };
  const px = view.tx + x * view.sx;
  const py = view.ty + row * view.sy;
  return {
    ...view,
    tx: view.tx + (clamp(px, room.x, size.width - room.x) - px),
    ty: view.ty + (clamp(py, room.y, size.height - room.y) - py),
  };
}
