import type { Shown } from '../app/shown';
import { kRightSign, kWrongSign, type AnswerColour, type AnswerShape } from '../draw/answer_colours';

const kShapes: Record<AnswerShape, preact.JSX.Element> = {
  disc: <circle cx="8" cy="8" r="4.5" class="filled" />,
  square: <path d="M3.8 3.8h8.4v8.4H3.8z" class="filled" />,
  up: <path d="M8 3l5 9.2H3z" class="filled" />,
  down: <path d="M8 13L3 3.8h10z" class="filled" />,
  plus: <path d="M6.2 3h3.6v3.2H13v3.6H9.8V13H6.2V9.8H3V6.2h3.2z" class="filled" />,
  diamond: <path d="M8 2.5L13.5 8 8 13.5 2.5 8z" class="filled" />,
  half: (
    <>
      <circle cx="8" cy="8" r="4.5" />
      <path d="M8 3.5a4.5 4.5 0 0 0 0 9z" class="filled" />
    </>
  ),
  ring: <circle cx="8" cy="8" r="4.5" />,
};

/** The mark of an answer, in its colour. For the eye only: the answer stands beside it. */
export function AnswerMark({ colour }: { colour: AnswerColour }) {
  return (
    <svg class={`state-mark answer-${colour.name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {kShapes[colour.shape]}
    </svg>
  );
}

/** Whether an answer is right, where that is known: a sign and a word. */
export function Verdict({ answer, reference }: { answer: string | null; reference: string | null }) {
  if (reference === null || answer === null) return null;
  const right = answer === reference;
  return (
    <span class={`right-or-wrong ${right ? 'right' : 'wrong'}`}>
      <span aria-hidden="true">{right ? kRightSign : kWrongSign}</span> {right ? 'right' : 'wrong'}
    </span>
  );
}

/** The colour of an answer of `run`, those that finished before it first. */
export function answerColour(run: Shown, answer: string | null): AnswerColour {
  run.colours.add(run.tree, run.coloursFrom);
  return run.colours.of(answer, run.coloursFrom);
}
