/** GET /v1/trees/{id}: the whole tree at once (docs/tree-file.md). */
import { asArray, asIndex, asNumber, asObject, asString, asTextOrNull, type Json } from './json';
import { readEndState, readOpening, readOutcome, readVotes } from './events';
import { printable } from './printable';
import { Tree, type Segment } from './tree';

/** `text` cut into pieces of so many bytes of UTF-8. */
export function splitPieces(text: string, pieceBytes: number[]): string[] {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  let start = 0;
  return pieceBytes.map((count) => {
    const piece = decoder.decode(bytes.subarray(start, start + count));
    start += count;
    return piece;
  });
}

function readTokens(segment: Segment, data: Json): void {
  const entropy = asArray(data.entropy);
  const varentropy = asArray(data.varentropy);
  const logprobs = asArray(data.logprobs);
  const pieces = splitPieces(
    asString(data.text),
    asArray(data.piece_bytes).map((count) => asIndex(count) ?? 0),
  );
  pieces.forEach((piece, i) =>
    segment.push(printable(piece), asNumber(entropy[i]), asNumber(varentropy[i]), asNumber(logprobs[i])),
  );
}

/** The tree in a file; damaged where it does not fit together. Events up to `lastEventId` are in it. */
export function treeFromFile(file: Json, lastEventId = -1): Tree {
  const tree = new Tree();
  tree.lastEventId = lastEventId;
  tree.opening = readOpening(file);
  tree.needed = tree.opening.needed;
  for (const entry of asArray(file.segments)) {
    const data = asObject(entry);
    const id = asIndex(data.id);
    const parentId = asIndex(data.parent);
    const parent = parentId === null ? null : tree.segments.get(parentId);
    const segment =
      id === null || parent === undefined
        ? null
        : tree.addSegment(id, parent, asIndex(data.child) ?? 0, asIndex(data.start) ?? 0);
    if (segment === null) {
      tree.damaged = true;
      continue;
    }
    readTokens(segment, data);
    tree.tokens += segment.length;
    tree.step = Math.max(tree.step, segment.start + segment.length);
    if (data.state === 'split') segment.state = 'split';
    else segment.state = readEndState(data.state) ?? 'live';
    if (parent !== null && parent !== undefined && parent.decision === null) {
      const [entropy, varentropy] = [segment.entropy.at(0), segment.varentropy.at(0)];
      parent.decision = { step: segment.start, position: segment.start, entropy, varentropy };
    }
  }
  readEndings(tree, file);
  tree.votes = readVotes(file.votes);
  const winner = asObject(asArray(file.finished)[asIndex(file.winner) ?? -1]);
  const outcome = { ...readOutcome(file), winnerLeaf: asIndex(winner.leaf) };
  if (outcome.reason === 'running')
    tree.outcome = outcome; // its branches still grew: nothing cut them off
  else tree.finish(outcome);
  return tree;
}

function readEndings(tree: Tree, file: Json): void {
  for (const entry of asArray(file.finished)) {
    const data = asObject(entry);
    const segment = tree.segments.get(asIndex(data.leaf) ?? -1);
    if (segment?.state !== 'finished') {
      tree.damaged = true;
      continue;
    }
    segment.ending = {
      step: asNumber(data.step, 0),
      length: asNumber(data.length, 0),
      answer: asTextOrNull(data.answer),
      meanLogprob: asNumber(data.mean_logprob),
    };
    tree.finishedLeaves.push(segment);
  }
  for (const segment of tree.segments.values()) {
    const over = segment.state === 'exhausted' || segment.state === 'retired' || segment.state === 'cut';
    if (!over) continue;
    const length = segment.start + segment.length;
    segment.ending = { step: length, length, answer: null, meanLogprob: NaN };
  }
}
