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
  limits: Json;
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
  'A train travels 60 km at 40 km/h and 60 km at 60 km/h. What is its average speed?',
  'Three friends always lie, always tell the truth, or alternate. What is the least number of questions to tell them apart?',
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

/** The models with their methods. A server lists each once more with every method, for clients that can only name a model. */
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
  const examples = asArray(dts.examples).map((example) => asString(example, asString(asObject(example).question)));
  return {
    id: asString(model.id),
    methods,
    defaultMethod,
    defaults,
    limits: asObject(dts.limits),
    examples: examples.some((example) => example !== '') ? examples : kExamples,
  };
}

/** A default as it stands in a form's field; '' when the server tells none. */
export function defaultText(offer: ModelOffer | null, name: string): string {
  const value = offer?.defaults[name];
  if (typeof value === 'string') return value;
  const number = asNumber(value);
  return Number.isNaN(number) ? '' : String(Math.round(number * 1e6) / 1e6);
}
