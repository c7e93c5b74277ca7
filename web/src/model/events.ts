/** The events of GET /v1/trees/{id}/events (docs/server.md), as the page holds them. */
import { asArray, asIndex, asNumber, asObject, asString, asText, asTextOrNull, isObject, type Json } from './json';

export type EndState = 'finished' | 'exhausted' | 'retired' | 'cut';

export interface Vote {
  answer: string;
  votes: number;
}

/** How many trajectories must finish: a number, or all of them. */
export type Needed = number | 'all';

export interface BranchRule {
  enabled: boolean;
  criterion: string; // decision, high-entropy, either
  tauV: number; // nats², Infinity: never branches
  tauH: number; // nats
  k: number;
  maxBranches: number;
}

export interface Opening {
  id: string;
  created: number; // seconds since 1970
  model: string;
  question: string;
  methodName: string;
  branch: BranchRule;
  needed: Needed;
  statTemp: number;
  seed: string; // '' where a number cannot hold it: it has 64 bits
  temperature: number;
  topP: number;
  maxTokens: number;
  promptTokens: number;
  opensThinking: boolean;
}

export interface Growth {
  segment: number;
  text: string[];
  entropy: number[]; // nats
  varentropy: number[]; // nats²
  logprob: number[];
}

export interface SplitChild {
  segment: number;
  child: number;
  text: string; // of its first token
  logprob: number;
}

export interface Account {
  steps: number;
  branches: number;
  branchTokens: number;
  uniqueTokens: number;
  peakLive: number;
}

export interface Outcome {
  reason: string;
  error: string;
  answer: string | null;
  winnerLeaf: number | null;
  bestLeaf: number | null;
  votes: Vote[];
  account: Account;
  seconds: number; // of prefill and decoding; NaN: not told
}

export type TreeEvent =
  | { type: 'open'; opening: Opening }
  | { type: 'prefill'; done: number; total: number }
  | { type: 'root'; segment: number; child: number }
  | {
      type: 'grow';
      step: number;
      live: number;
      finished: number;
      seconds: number; // of decoding so far; NaN: not told
      memory: number; // bytes that the server holds; NaN: not told
      segments: Growth[];
    }
  | {
      type: 'split';
      step: number;
      segment: number;
      position: number;
      entropy: number;
      varentropy: number;
      children: SplitChild[];
    }
  | {
      type: 'end';
      step: number;
      segment: number;
      state: EndState;
      length: number;
      answer: string | null;
      meanLogprob: number;
      rest: string; // of the text: what an incomplete character left
    }
  | { type: 'votes'; votes: Vote[]; finished: number; needed: Needed }
  | { type: 'done'; outcome: Outcome };

function readNeeded(value: unknown): Needed {
  return asIndex(value) ?? 'all';
}

export function readVotes(value: unknown): Vote[] {
  return asArray(value)
    .filter(isObject)
    .map((vote) => ({
      answer: asText(vote.answer),
      votes: asNumber(vote.votes, 0),
    }));
}

function readBranchRule(value: unknown): BranchRule {
  const rule = asObject(value);
  return {
    enabled: rule.enabled === true,
    criterion: asString(rule.criterion, 'decision'),
    tauV: asNumber(rule.tau_v),
    tauH: asNumber(rule.tau_h),
    k: asNumber(rule.k),
    maxBranches: asNumber(rule.max_branches),
  };
}

/** The fields that the `open` event and the tree file have in common. */
export function readOpening(data: Json): Opening {
  const method = asObject(data.method);
  const sampling = asObject(data.sampling);
  const prompt = asObject(data.prompt);
  return {
    id: asString(data.id),
    created: asNumber(data.created),
    model: asText(data.model),
    question: asText(data.question),
    methodName: asText(method.name),
    branch: readBranchRule(method.branch),
    needed: readNeeded(asObject(method.stop).finished),
    statTemp: asNumber(data.stat_temp),
    seed: Number.isSafeInteger(data.seed) ? String(data.seed) : asText(data.seed),
    temperature: asNumber(sampling.temperature),
    topP: asNumber(sampling.top_p),
    maxTokens: asNumber(data.max_tokens),
    promptTokens: asNumber(data.prompt_tokens, asArray(prompt.tokens).length),
    opensThinking: data.opens_thinking === true || prompt.opens_thinking === true,
  };
}

export function readOutcome(data: Json): Outcome {
  const account = asObject(data.account);
  const times = asObject(data.times);
  return {
    reason: asString(data.reason),
    error: asText(data.error),
    answer: asTextOrNull(data.answer),
    winnerLeaf: asIndex(data.winner_leaf),
    bestLeaf: asIndex(data.best_leaf),
    votes: readVotes(data.votes),
    account: {
      steps: asNumber(account.steps, 0),
      branches: asNumber(account.branches, 0),
      branchTokens: asNumber(account.branch_tokens, 0),
      uniqueTokens: asNumber(account.unique_tokens, 0),
      peakLive: asNumber(account.peak_live, 0),
    },
    seconds: asNumber(times.prefill) + asNumber(times.decode),
  };
}

export function readEndState(value: unknown): EndState | null {
  return value === 'finished' || value === 'exhausted' || value === 'retired' || value === 'cut' ? value : null;
}

function readGrowth(value: unknown): Growth | null {
  const growth = asObject(value);
  const segment = asIndex(growth.segment);
  if (segment === null) return null;
  const numbers = (list: unknown) => asArray(list).map((number) => asNumber(number));
  return {
    segment,
    text: asArray(growth.text).map(asText),
    entropy: numbers(growth.entropy),
    varentropy: numbers(growth.varentropy),
    logprob: numbers(growth.logprob),
  };
}

function readSplitChild(value: unknown): SplitChild | null {
  const child = asObject(value);
  const segment = asIndex(child.segment);
  if (segment === null) return null;
  return {
    segment,
    child: asIndex(child.child) ?? 0,
    text: asText(child.text),
    logprob: asNumber(child.logprob),
  };
}

/** One event; null for a type this page does not know and for data that makes no sense. */
export function readEvent(type: string, value: unknown): TreeEvent | null {
  if (!isObject(value)) return null;
  const data = value;
  const segment = asIndex(data.segment);
  const step = asNumber(data.step, 0);
  switch (type) {
    case 'open':
      return { type, opening: readOpening(data) };
    case 'prefill':
      return { type, done: asNumber(data.done, 0), total: asNumber(data.total, 0) };
    case 'root':
      return segment === null ? null : { type, segment, child: asIndex(data.child) ?? 0 };
    case 'grow':
      return {
        type,
        step,
        live: asNumber(data.live, 0),
        finished: asNumber(data.finished, 0),
        seconds: asNumber(data.seconds),
        memory: asNumber(data.memory),
        segments: asArray(data.segments)
          .map(readGrowth)
          .filter((growth) => growth !== null),
      };
    case 'split': {
      const children = asArray(data.children)
        .map(readSplitChild)
        .filter((child) => child !== null);
      if (segment === null || children.length === 0) return null;
      const position = asIndex(data.position) ?? 0;
      return {
        type,
        step,
        segment,
        position,
        entropy: asNumber(data.entropy),
        varentropy: asNumber(data.varentropy),
        children,
      };
    }
    case 'end': {
      const state = readEndState(data.state);
      if (segment === null || state === null) return null;
      return {
        type,
        step,
        segment,
        state,
        length: asNumber(data.length, 0),
        answer: asTextOrNull(data.answer),
        meanLogprob: asNumber(data.mean_logprob),
        rest: asText(data.text),
      };
    }
    case 'votes':
      return {
        type,
        votes: readVotes(data.votes),
        finished: asNumber(data.finished, 0),
        needed: readNeeded(data.needed),
      };
    case 'done':
      return { type, outcome: readOutcome(data) };
    default:
      return null;
  }
}
