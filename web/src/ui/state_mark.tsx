import { glyphOf } from '../draw/words';
import type { SegmentState } from '../model/tree';

const kShapes = {
  dot: <circle cx="8" cy="8" r="3" class="filled" />,
  wall: <path d="M1 8h5M6 3v10M10.5 3v10" />,
  fall: <path d="M8 3v10M4.5 9.5L8 13l3.5-3.5" />,
  bar: <path d="M3 8h5M8 3v10" />,
  decision: <path d="M8 3l5 5-5 5-5-5z" class="filled" />,
};

/** The glyph of a branch that has not finished, as in the drawing. For the eye only: words stand beside it. */
export function StateMark({ state }: { state: Exclude<SegmentState, 'finished'> }) {
  return (
    <svg class={`state-mark ${state}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {kShapes[glyphOf(state) as keyof typeof kShapes]}
    </svg>
  );
}

/** The star of the winner. */
export function WinnerMark() {
  return (
    <svg class="state-mark winner" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d="M8 1.5l2 4.3 4.6.5-3.4 3.2.9 4.7L8 11.8l-4.1 2.4.9-4.7L1.4 6.3 6 5.8z" class="filled" />
    </svg>
  );
}
