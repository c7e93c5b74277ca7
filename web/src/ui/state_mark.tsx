import { glyphOf } from '../draw/words';
import type { SegmentState } from '../model/tree';

const kShapes = {
  dot: <circle cx="8" cy="8" r="3" class="filled" />,
  cross: <path d="M4 4l8 8m0-8l-8 8" />,
  bar: <path d="M8 3v10M3 8h5" />,
  box: <path d="M4.5 4.5h7v7h-7z" />,
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
