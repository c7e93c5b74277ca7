/** What the views need to know of a run, whether it is being decoded or comes from a file. */
import type { AnswerColours } from '../draw/answer_colours';
import type { Outcome } from '../model/events';
import type { Tree } from '../model/tree';
import type { Changes } from './frames';

/** lost: the server no longer has it; what was seen remains. */
export type Phase = 'starting' | 'running' | 'done' | 'failed' | 'lost';

export interface Shown {
  readonly tree: Tree;
  readonly changes: Changes;
  readonly id: string | null; // on the server
  readonly question: string;
  readonly phase: Phase;
  readonly active: boolean; // more may come
  readonly refused: boolean; // failed before anything grew
  readonly error: string | null;
  readonly colours: AnswerColours;
  /** Which end of them its answers take: 'last' for what only stands beside another run. */
  readonly coloursFrom: 'first' | 'last';
  readonly reference: string | null; // the right answer, where it is known
}

/** What to say of a search that failed; null where it did not. */
export function failureOf({ reason, error }: Outcome): string | null {
  return reason === 'failed' ? `The search failed: ${error}` : null;
}
