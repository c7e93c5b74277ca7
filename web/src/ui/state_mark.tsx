import { glyphOf } from '../draw/words';
import type { SegmentState } from '../model/tree';

/** The glyph of a branch's state, as in the drawing. For the eye only: words stand beside it. */
export function StateMark({ state, winner = false }: { state: SegmentState; winner?: boolean }) {
  const glyph = glyphOf(state, winner);
  const shapes = {
    dot: <circle cx="8" cy="8" r="4.5" class="filled" />,
    ring: <circle cx="8" cy="8" r="4.5" />,
    star: <path d="M8 1.5l2 4.3 4.6.5-3.4 3.2.9 4.7L8 11.8l-4.1 2.4.9-4.7L1.4 6.3 6 5.8z" class="filled" />,
    cross: <path d="M4 4l8 8m0-8l-8 8" />,
    bar: <path d="M8 3v10M3 8h5" />,
    square: <path d="M4.5 4.5h7v7h-7z" />,
    diamond: <path d="M8 3l5 5-5 5-5-5z" class="filled" />,
  };
  return (
    <svg
      class={`state-mark ${winner ? 'finished' : state}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      aria-hidden="true"
    >
      {shapes[glyph]}
    </svg>
  );
}
