/** What the server offers: GET /v1/models and its `dts` extension. */
import { asArray, asNumber, asObject, asString, type Json } from '../model/json';
import { kExamples, kNanoExamples, type Example } from './examples';

export interface MethodOffer {
  name: string;
  summary: string;
}

/** An option as the server declares it: the form has nothing to add but where it stands. */
export interface OptionOffer {
  name: string;
  field: string; // where a request has it: "max_tokens", "dts.window"
  label: string;
  help: string;
  group: 'method' | 'sampling' | 'budget';
  type: 'whole' | 'number' | 'word' | 'seed';
  least: number | null; // as this server bounds it
  most: number | null;
  words: string[];
  default: string; // as it stands in a field; '': chosen by the server
  automatic: string; // what is chosen then
  methods: string[]; // those it concerns
}

export interface ModelOffer {
  id: string;
  methods: MethodOffer[];
  options: OptionOffer[];
  defaultMethod: string;
  examples: Example[];
}

function readMethods(value: unknown): MethodOffer[] {
  const offers = asArray(value).map((entry): MethodOffer => {
    const method = asObject(entry);
    return { name: asString(method.name), summary: asString(method.summary) };
  });
  return offers.filter(({ name }) => name !== '');
}

const kTypes = ['whole', 'number', 'word', 'seed'] as const;
const kGroups = ['method', 'sampling', 'budget'] as const;

/** Undefined for a kind of option that this page does not know: it is left out of the form. */
function readOption(value: unknown): OptionOffer | undefined {
  const option = asObject(value);
  const type = kTypes.find((known) => known === option.type);
  const group = kGroups.find((known) => known === option.group);
  if (type === undefined || group === undefined) return undefined;
  const bound = (limit: unknown) => (typeof limit === 'number' ? limit : null);
  const strings = (list: unknown) => asArray(list).map((item) => asString(item));
  const help = asString(option.help);
  const unit = asString(option.unit);
  return {
    name: asString(option.name),
    field: asString(option.field),
    label: asString(option.label),
    help: sentence(unit === '' || help.includes(unit) ? help : `${help} (${unit})`),
    group,
    type,
    least: bound(option.least),
    most: bound(option.most),
    words: strings(option.words),
    default: fieldText(option.default),
    automatic: asString(option.automatic),
    methods: strings(option.methods),
  };
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replace('^2', '²');

/** A value as it stands in a form's field; '' for none. */
function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  const number = asNumber(value);
  return Number.isNaN(number) ? '' : String(Math.round(number * 1e6) / 1e6);
}

/** The models with their methods. The server lists each once more a method, for clients that only name a model. */
export function readModels(list: Json[]): ModelOffer[] {
  const offers = list.map(readModel);
  const described = offers.filter(({ methods }) => methods.length > 0);
  return described.length > 0 ? described : offers;
}

function readModel(model: Json): ModelOffer {
  const dts = asObject(model.dts);
  const methods = readMethods(dts.methods);
  const options = asArray(dts.options).flatMap((option) => readOption(option) ?? []);
  const wanted = options.find(({ name }) => name === 'method')?.default ?? '';
  const defaultMethod = methods.some(({ name }) => name === wanted) ? wanted : (methods[0]?.name ?? wanted);
  return {
    id: asString(model.id),
    methods,
    options,
    defaultMethod,
    examples: asString(model.id).startsWith('dts-nano') ? kNanoExamples : kExamples,
  };
}

/** The numbers of a method: what is its own, and nobody else's business. */
export function methodOptions(offer: ModelOffer | null, method: string): OptionOffer[] {
  return (offer?.options ?? []).filter(
    ({ name, group, type, methods }) =>
      group === 'method' && name !== 'method' && type !== 'seed' && methods.includes(method),
  );
}

/** What goes with every method: sampling, budgets, and last the seed. */
export function commonOptions(offer: ModelOffer | null): OptionOffer[] {
  const rank = ({ group, type }: OptionOffer) => (type === 'seed' ? 2 : group === 'sampling' ? 0 : 1);
  return (offer?.options ?? [])
    .filter(({ group, type }) => group !== 'method' || type === 'seed')
    .sort((a, b) => rank(a) - rank(b));
}

/** A typed value as the request has it. */
function typed(text: string): string | number {
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) ? number : text;
}

/** The fields of a request for those of `values` (by the options' names) that differ from what the server takes. */
export function requestFields(options: OptionOffer[], values: Record<string, string>): Json {
  const body: Json = {};
  const dts: Json = {};
  for (const option of options) {
    const value = values[option.name];
    if (value === undefined || value === '' || value === option.default) continue;
    const inner = option.field === `dts.${option.name}`;
    (inner ? dts : body)[option.name] = typed(value);
  }
  return { ...body, dts };
}
