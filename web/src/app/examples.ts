/** Questions to begin with. Those with traps come first: that is where the methods differ. */

export interface Example {
  title: string;
  question: string;
  answer: string; // the right one
  trap: boolean; // a single answer falls for it
}

/** The built-in model's own problems: models/nano/nano-bench-mini.jsonl. It knows these three kinds and no others. */
export const kNanoExamples: Example[] = [
  {
    title: 'Who has how many?',
    question:
      'Emil has 69 stones. Emil has 28 fewer stones than Carl. Ada has 27 fewer stones than Carl. How many stones do they have in total?',
    answer: '236',
    trap: true,
  },
  {
    title: 'A way through a maze',
    question:
      'A maze has doors from 49 to 72 or 14, from 14 to 71 or 53 and from 71 to 17 or 25. Start in room 49 and reach room 25. What is the sum of the rooms on the way?',
    answer: '159',
    trap: true,
  },
  {
    title: 'What comes first?',
    question: 'Find the value of 57 x 5 - 67 - 29 x 3 + 26.',
    answer: '157',
    trap: true,
  },
  {
    title: 'Four people, one riddle',
    question:
      'Noah has 70 boxes. Noah has 15 more boxes than Leo. Uma has 39 more boxes than Leo. Uma has 45 more boxes than Ada. How many boxes do they have in total?',
    answer: '268',
    trap: true,
  },
  {
    title: 'Brackets and products',
    question: 'What is 14 + (25 + 23) x 4 + 52 x 2?',
    answer: '310',
    trap: true,
  },
  {
    title: 'No trap in it',
    question:
      'Mara has 87 plates. Nora has 26 fewer plates than Mara. Ella has 37 fewer plates than Nora. Theo has 3 times as many plates as Ella. How many plates do they have together?',
    answer: '244',
    trap: false,
  },
];

/** For any other model. */
export const kExamples: Example[] = [
  {
    title: 'A trap for the quick',
    question: 'A train travels 60 km at 40 km/h and then 60 km at 60 km/h. What is its average speed in km/h?',
    answer: '48',
    trap: true,
  },
  {
    title: 'Then and now',
    question:
      'Anna is twice as old as Ben was when Anna was as old as Ben is now. Together they are 63. How old is Anna?',
    answer: '36',
    trap: true,
  },
  {
    title: 'Counting twice',
    question: 'How many positive whole numbers below 100 are divisible by 3 or by 5?',
    answer: '46',
    trap: true,
  },
  {
    title: 'A fraction',
    question: 'Three fair coins are tossed. What is the probability of at least two heads? Give a fraction.',
    answer: '1/2',
    trap: false,
  },
];
