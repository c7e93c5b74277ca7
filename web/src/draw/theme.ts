/** The page's colours for what is drawn: the custom properties of style/colours.css. */
import type { SegmentState } from '../model/tree';
import { kAnswerColours, kOtherAnswer, type AnswerColour } from './answer_colours';

export interface Theme {
  paper: string;
  ink: string;
  dim: string;
  rule: string;
  halo: string;
  mark: string;
  markEdge: string;
  state: Record<SegmentState, string>;
  answer: (colour: AnswerColour) => string;
  sans: string;
  mono: string;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const answers = new Map([...kAnswerColours, kOtherAnswer].map(({ name }) => [name, colour(`answer-${name}`)]));
  return {
    paper: colour('paper'),
    ink: colour('ink'),
    dim: colour('dim'),
    rule: colour('rule'),
    halo: colour('halo'),
    mark: colour('mark'),
    markEdge: colour('mark-edge'),
    state: {
      live: colour('live'),
      split: colour('split'),
      finished: colour('finished'),
      exhausted: colour('exhausted'),
      retired: colour('retired'),
      cut: colour('cut'),
    },
    answer: ({ name }) => answers.get(name)!,
    sans: colour('sans'),
    mono: colour('mono'),
  };
}
