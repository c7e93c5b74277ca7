import { firstToken, formatProbability } from '../draw/words';
import type { Segment } from '../model/tree';

/** One way to go on after a decision: the token that `segment` begins with, and its probability. */
export function Choice({ segment }: { segment: Segment }) {
  return (
    <>
      <code>{firstToken(segment)}</code> {formatProbability(segment.logprob.at(0))}
    </>
  );
}
