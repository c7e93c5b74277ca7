/** A tree file as large as the page must bear, made of nothing. `dts tree` reads it, too. */

/** A small generator of pseudo-random numbers in [0, 1): the same tree every time. @param {number} seed */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const kWords = [
  'so',
  'the',
  'sum',
  'of',
  'both',
  'is',
  'then',
  'we',
  'check',
  'again',
  'x',
  '=',
  '12',
  '7',
  'wait',
  'hence',
];
const kLeaves = ['finished', 'finished', 'finished', 'exhausted', 'cut', 'retired'];

/**
 * `branches` leaves, each `tokens` tokens from the start; splits lie within the first eighth, as they do with a cap.
 * @param {{ branches?: number, tokens?: number, seed?: number }} [options]
 */
export function syntheticTree({ branches = 48, tokens = 4000, seed = 1 } = {}) {
  const random = randomNumbers(seed);
  /** @type {any[]} */
  const segments = [];
  const open = (/** @type {number | null} */ parent, /** @type {number} */ child, /** @type {number} */ start) => {
    segments.push({ id: segments.length, parent, child, start, state: 'cut', length: tokens - start });
    return segments[segments.length - 1];
  };
  let live = [open(null, 0, 0)];
  while (live.length < branches) {
    const k = Math.min(3, branches - live.length + 1);
    const parent = live.splice(Math.floor(random() * live.length), 1)[0];
    parent.state = 'split';
    parent.length = 1 + Math.floor(random() * (tokens / 32));
    for (let child = 0; child < k; ++child) live.push(open(parent.id, child, parent.start + parent.length));
  }
  /** @type {any[]} */
  const finished = [];
  live.forEach((leaf, i) => {
    leaf.state = kLeaves[i % kLeaves.length];
    if (leaf.state !== 'finished') return;
    const answer = String(100 + Math.floor(random() * 3));
    const confidence = { mean_confidence: 1, lowest_confidence: 1, warmup: false };
    finished.push({ leaf: leaf.id, length: tokens, step: tokens, mean_logprob: -random(), ...confidence, answer });
  });
  for (const segment of segments) fill(segment, random);
  for (const segment of segments) {
    const first = segments.find((other) => other.parent === segment.parent && other.child === 0);
    if (segment.parent === null) continue;
    segment.entropy[0] = first.entropy[0];
    segment.varentropy[0] = first.varentropy[0];
  }
  const counts = new Map();
  for (const { answer } of finished) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const votes = [...counts]
    .map(([answer, count]) => {
      const first = finished.findIndex((trace) => trace.answer === answer);
      return { answer, votes: count, weight: count, first, shortest: first };
    })
    .sort((a, b) => b.votes - a.votes);
  const winner = finished.findIndex(({ answer }) => answer === votes[0]?.answer);
  const unique = segments.reduce((sum, segment) => sum + segment.length, 0);
  return {
    format: 'dts-tree',
    version: 1,
    model: 'synthetic',
    question: `A tree of ${branches} branches with ${tokens} tokens each`,
    answer: votes[0]?.answer ?? null,
    reason: 'enough-finished',
    error: '',
    prompt: { text: '', tokens: [], opens_thinking: true },
    method: {
      name: 'dts-stable',
      width: 1,
      branch: {
        enabled: true,
        criterion: 'decision',
        tau_v: 1.5,
        tau_h: 2.5,
        k: 3,
        max_branches: branches,
        freeze: 'temporary',
      },
      retire: { enabled: false, warmup: 1, keep: 0, window: 0 },
      stop: { finished: Math.max(1, finished.length), consensus: 0, certainty: 0 },
      select: 'majority',
    },
    sampling: { temperature: 0.6, top_k: 0, top_p: 1, min_p: 0 },
    stat_temp: 0.6,
    seed: 1,
    max_tokens: tokens,
    max_total_tokens: 0,
    top_k: 20,
    confidence_bar: null,
    winner: winner < 0 ? null : winner,
    best_leaf: finished[winner]?.leaf ?? null,
    votes,
    finished,
    account: {
      steps: tokens,
      branch_events: segments.filter(({ state }) => state === 'split').length,
      branches,
      branch_tokens: branches * tokens,
      unique_tokens: unique,
      fed_tokens: unique,
      attended_tokens: unique,
      prompt_tokens: 64,
      peak_live: branches,
      exhausted: segments.filter(({ state }) => state === 'exhausted').length,
      retired: segments.filter(({ state }) => state === 'retired').length,
      capped_decisions: 0,
      flops: 0,
    },
    times: {
      load: 0,
      queued: 0,
      prefill: 0.1,
      decode: tokens / 100,
      model: 0,
      statistics: 0,
      forks: 0,
      bookkeeping: 0,
    },
    segments,
  };
}

/** Text and figures for the tokens of a segment. @param {any} segment @param {() => number} random */
function fill(segment, random) {
  const words = Array.from({ length: segment.length }, (_, i) =>
    i % 97 === 96 ? '.\n' : ` ${kWords[Math.floor(random() * kWords.length)]}`,
  );
  segment.text = words.join('');
  segment.piece_bytes = words.map((word) => word.length);
  segment.tokens = words.map((_, i) => i);
  const steep = () => Math.pow(random(), 6);
  segment.entropy = words.map(() => 4 * steep());
  segment.varentropy = words.map(() => 6 * steep());
  segment.logprobs = words.map(() => Math.log(1 - steep() * 0.99));
  segment.confidence = words.map(() => 1);
}
