/** What the server offers: GET /v1/models and its `dts` extension. */
import { asArray, asNumber, asObject, asString, isObject, type Json } from '../model/json';

export interface MethodOffer {
  name: string;
  summary: string;
  options: string[]; // those that concern it, by the names of kOptions
}

export interface ModelOffer {
  id: string;
  methods: MethodOffer[];
  defaultMethod: string;
  defaults: Json; // by the names of kOptions
  examples: string[];
}

export interface OptionHelp {
  label: string;
  help: string;
  kind: 'whole' | 'number' | 'choice';
  choices?: string[];
  min?: number;
  step?: number;
}

/** The numbers a person may set, by their names in the request's `dts` object (docs/server.md). */
export const kOptions: Record<string, OptionHelp> = {
  votes: { label: 'Votes', help: 'Finished branches that vote', kind: 'whole', min: 1 },
  samples: { label: 'Samples', help: 'Branches that start', kind: 'whole', min: 1 },
  branch_k: { label: 'Children', help: 'Tokens tried at a decision', kind: 'whole', min: 2 },
  max_branches: { label: 'Branches', help: 'Most that grow at once', kind: 'whole', min: 1 },
  tau_v: { label: 'Varentropy ≥', help: 'A decision has at least this, nats²', kind: 'number', min: 0, step: 0.1 },
  tau_h: { label: 'Entropy ≤', help: 'A decision has at most this, nats', kind: 'number', min: 0, step: 0.1 },
  stat_temp: { label: 'Measured at', help: 'Temperature of both', kind: 'number', min: 0.01, step: 0.1 },
  criterion: {
    label: 'Decision',
    help: 'What makes a decision',
    kind: 'choice',
    choices: ['decision', 'high-entropy', 'either'],
  },
  freeze: {
    label: 'At the cap',
    help: 'Branching resumes, or never again',
    kind: 'choice',
    choices: ['temporary', 'permanent'],
  },
  consensus: { label: 'Consensus', help: 'Stop at this share of votes; 0: never', kind: 'number', min: 0 },
  adaptive: { label: 'Certainty', help: 'Stop when the lead is this certain', kind: 'number', min: 0 },
  warmup: { label: 'Warm-up', help: 'Branches that set the bar', kind: 'whole', min: 0 },
  window: { label: 'Window', help: 'Tokens of which confidence is averaged', kind: 'whole', min: 0 },
};

const kTreeOptions = ['branch_k', 'max_branches', 'tau_v', 'tau_h', 'stat_temp', 'criterion', 'freeze'];
const kVoteOptions = ['votes', 'consensus', 'adaptive'];
const kOptionsOf: Record<string, string[]> = {
  standard: [],
  'self-consistency': kVoteOptions,
  'best-of-n': ['votes'],
  'deepconf-low': [...kVoteOptions, 'warmup', 'window'],
  'deepconf-high': [...kVoteOptions, 'warmup', 'window'],
  'first-finish': ['votes'],
  'short-m@k': ['samples', ...kVoteOptions],
  'max-logit': ['votes', ...kTreeOptions],
  'dts-greedy': kTreeOptions,
  'dts-stable': ['votes', ...kTreeOptions, 'consensus', 'adaptive'],
};

const kExamples = [
  'How many positive whole numbers below 100 are divisible by 3 or by 5?',
  'A train travels 60 km at 40 km/h and then 60 km at 60 km/h. What is its average speed?',
  'Anna is twice as old as Ben was when Anna was as old as Ben is now. Together they are 63. How old is Anna?',
];

/** The built-in model knows three kinds of problems and no others. */
const kNanoExamples = [
  'Mara has 87 plates. Nora has 26 fewer plates than Mara. Ella has 37 fewer plates than Nora. Theo has 3 times as many plates as Ella. How many plates do they have together?',
  'A maze has doors from 49 to 72 or 14, from 14 to 71 or 53 and from 71 to 17 or 25. Start in room 49 and reach room 25. What is the sum of the rooms on the way?',
  'Find the value of 57 x 5 - 67 - 29 x 3 + 26.',
  'Noah has 70 boxes. Noah has 15 more boxes than Leo. Uma has 39 more boxes than Leo. Uma has 45 more boxes than Ada. How many boxes do they have in total?',
];

function readMethods(value: unknown): MethodOffer[] {
  const offers = asArray(value).map((entry): MethodOffer => {
    const method = isObject(entry) ? entry : { name: entry };
    const name = asString(method.name);
    const told = Object.keys(asObject(method.options)).filter((option) => option in kOptions);
    const options = told.length > 0 ? told : (kOptionsOf[name] ?? []);
    return { name, summary: asString(method.summary), options };
  });
  return offers.filter(({ name }) => name !== '');
}

/** The models with their methods. The server lists each once more a method, for clients that only name a model. */
export function readModels(list: Json[]): ModelOffer[] {
  const offers = list.map(readModel);
  const described = offers.filter(({ methods }) => methods.length > 0);
  return described.length > 0 ? described : offers;
}

function readModel(model: Json): ModelOffer {
  const dts = asObject(model.dts);
  const defaults = { ...asObject(dts.sampling), ...asObject(dts.defaults) };
  const methods = readMethods(dts.methods);
  const wanted = asString(defaults.method);
  const defaultMethod = methods.some(({ name }) => name === wanted) ? wanted : (methods[0]?.name ?? wanted);
  return {
    id: asString(model.id),
    methods,
    defaultMethod,
    defaults,
    examples: asString(model.id).startsWith('dts-nano') ? kNanoExamples : kExamples,
  };
}

/** A default as it stands in a form's field; '' when the server tells none. */
export function defaultText(offer: ModelOffer | null, name: string): string {
  const value = offer?.defaults[name];
  if (typeof value === 'string') return value;
  const number = asNumber(value);
  return Number.isNaN(number) ? '' : String(Math.round(number * 1e6) / 1e6);
}
