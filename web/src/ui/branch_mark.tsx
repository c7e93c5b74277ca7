import type { Shown } from '../app/shown';
import type { Segment } from '../model/tree';
import { AnswerMark, answerColour } from './answer_mark';
import { StateMark, WinnerMark } from './state_mark';

/** A branch's end as the drawing has it: its answer's mark where it has finished, else its state's; a star for the winner. */
export function BranchMark({ run, leaf }: { run: Shown; leaf: Segment }) {
  if (leaf.state !== 'finished') return <StateMark state={leaf.state} />;
  return (
    <>
      {leaf === run.tree.winner && <WinnerMark />}
      <AnswerMark colour={answerColour(run, leaf.ending?.answer ?? null)} />
    </>
  );
}
