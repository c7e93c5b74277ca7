/**
 * The events that a server would have sent while it decoded a tree: for trying the page without one, and for its tests.
 * `tree` is the JSON of docs/tree-file.md.
 *
 * @typedef {{ step: number, type: string, data: Record<string, unknown> }} Sent
 */

/** @param {{ text: string, piece_bytes: number[] }} segment */
function pieces(segment) {
  const bytes = Buffer.from(segment.text);
  let start = 0;
  return segment.piece_bytes.map((count) => bytes.subarray(start, (start += count)).toString());
}

/**
 * @param {any} tree
 * @param {{ id?: string, stepsPerEvent?: number }} [options]
 * @returns {Generator<Sent>}
 */
export function* eventsOf(tree, { id = 'chatcmpl-replay', stepsPerEvent = 1 } = {}) {
  const segments = tree.segments.map((/** @type {any} */ segment) => ({ ...segment, pieces: pieces(segment) }));
  const childrenOf = new Map();
  for (const segment of segments) {
    if (segment.parent === null) continue;
    childrenOf.set(segment.parent, [...(childrenOf.get(segment.parent) ?? []), segment]);
  }
  const endings = new Map(tree.finished.map((/** @type {any} */ entry) => [entry.leaf, entry]));
  const { model, question, method, sampling, stat_temp, seed, max_tokens } = tree;
  const total = tree.account.prompt_tokens;
  const opening = { id, created: Math.floor(Date.now() / 1000), model, question, method, sampling };
  yield {
    step: 0,
    type: 'open',
    data: { ...opening, stat_temp, seed, max_tokens, prompt_tokens: total, opens_thinking: tree.prompt.opens_thinking },
  };
  yield { step: 0, type: 'prefill', data: { done: total, total } };

  let live = segments.filter((/** @type {any} */ segment) => segment.parent === null);
  for (const { id: segment, child } of live) yield { step: 0, type: 'root', data: { segment, child } };

  const tally = new Map();
  let finished = 0;
  /** @type {Map<number, any>} */
  let growing = new Map();
  const flush = (/** @type {number} */ step) => {
    const data = { step, live: live.length, finished, segments: [...growing.values()] };
    growing = new Map();
    return { step, type: 'grow', data };
  };
  for (let step = 0; live.length > 0; ++step) {
    // What ended with the token before.
    const over = live.filter((/** @type {any} */ segment) => segment.start + segment.pieces.length <= step);
    if (over.length > 0 && growing.size > 0) yield flush(step);
    for (const segment of over) {
      live = live.filter((/** @type {any} */ other) => other !== segment);
      if (segment.state === 'split') {
        const children = childrenOf.get(segment.id);
        const [entropy, varentropy] = [children[0].entropy[0], children[0].varentropy[0]];
        live.push(...children);
        yield {
          step,
          type: 'split',
          data: {
            step,
            segment: segment.id,
            position: step,
            entropy,
            varentropy,
            children: children.map((/** @type {any} */ child) => ({
              segment: child.id,
              child: child.child,
              text: child.pieces[0],
              logprob: child.logprobs[0],
            })),
          },
        };
        continue;
      }
      const { answer = null, mean_logprob = null } = endings.get(segment.id) ?? {};
      const length = segment.start + segment.pieces.length;
      const data = { step, segment: segment.id, state: segment.state, length, answer, mean_logprob };
      yield { step, type: 'end', data };
      if (segment.state !== 'finished') continue;
      ++finished;
      if (answer !== null && answer !== '') tally.set(answer, (tally.get(answer) ?? 0) + 1);
      const votes = [...tally]
        .map(([text, count]) => ({ answer: text, votes: count }))
        .sort((a, b) => b.votes - a.votes);
      yield { step, type: 'votes', data: { votes, finished, needed: tree.method.stop.finished } };
    }
    for (const segment of live) {
      const index = step - segment.start;
      if (index === 0 && segment.parent !== null) continue; // its decision told it
      let growth = growing.get(segment.id);
      if (growth === undefined) {
        growth = { segment: segment.id, text: [], entropy: [], varentropy: [], logprob: [] };
        growing.set(segment.id, growth);
      }
      growth.text.push(segment.pieces[index]);
      growth.entropy.push(segment.entropy[index]);
      growth.varentropy.push(segment.varentropy[index]);
      growth.logprob.push(segment.logprobs[index]);
    }
    if (growing.size > 0 && (step + 1) % stepsPerEvent === 0) yield flush(step + 1);
  }
  const winner = tree.winner === null ? null : tree.finished[tree.winner].leaf;
  const { reason, error, answer, best_leaf, votes, account, times } = tree;
  yield {
    step: account.steps,
    type: 'done',
    data: { reason, error, answer, winner_leaf: winner, best_leaf, votes, account, times },
  };
}
