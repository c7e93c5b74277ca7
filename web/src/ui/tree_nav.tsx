import { useEffect, useRef, useState } from 'preact/hooks';
import type { Shown } from '../app/shown';
import {
  branchName,
  firstToken,
  formatNats,
  formatProbability,
  kStateWords,
  leafLength,
  plural,
  votesFor,
} from '../draw/words';
import { pathTo, type Segment, type Tree } from '../model/tree';
import { useChanges } from './hooks';

interface Props {
  run: Shown;
  chosen: Segment | null;
  onMark(segment: Segment | null): void; // has the focus
  onRead(segment: Segment): void;
  onCompare(segment: Segment): void;
  onZoom(factor: number): void; // 0: fit
}

function describe(tree: Tree, segment: Segment): string {
  const first = segment.parent === null ? '' : ` “${firstToken(segment)}” ${formatProbability(segment.logprob.at(0))},`;
  const name = `${branchName(segment)}${first}`;
  if (!segment.isLeaf) {
    const { entropy, varentropy } = segment.decision ?? { entropy: NaN, varentropy: NaN };
    const count = plural(segment.children.length, 'alternative');
    const figures = `entropy ${formatNats(entropy)}, varentropy ${formatNats(varentropy)}`;
    return `${name} ${plural(segment.length, 'token')}, then a decision with ${count}, ${figures}`;
  }
  if (segment.state === 'live') return `${name} ${kStateWords.live}`;
  const answer = segment.ending?.answer ?? '';
  const votes = votesFor(tree, answer);
  return [
    `${name} ${kStateWords[segment.state]}`,
    answer === '' ? '' : `answer ${answer}`,
    votes > 0 ? `${plural(votes, 'vote')} for it` : '',
    segment === tree.winner ? 'winner' : '',
    `${plural(leafLength(segment), 'token')} in all`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** The neighbour an arrow leads to: right into the branch, left back, up and down among what is drawn there. */
function neighbour(tree: Tree, order: Segment[], from: Segment, key: string): Segment | undefined {
  const siblings = from.parent === null ? tree.roots : from.parent.children;
  switch (key) {
    case 'ArrowRight':
      return from.children[0];
    case 'ArrowLeft':
      return from.parent ?? undefined;
    case 'ArrowDown':
      return siblings[siblings.indexOf(from) + 1] ?? cousin(from, 1);
    case 'ArrowUp':
      return siblings[siblings.indexOf(from) - 1] ?? cousin(from, -1);
    case 'Home':
      return order[0];
    case 'End':
      return order[order.length - 1];
    default:
      return undefined;
  }
}

/** The next segment above or below that is no relative by parent: the nearest end of the neighbouring family. */
function cousin(from: Segment, direction: 1 | -1): Segment | undefined {
  for (let at = from.parent; at?.parent != null; at = at.parent) {
    const siblings = at.parent.children;
    const next = siblings[siblings.indexOf(at) + direction];
    if (next !== undefined) return direction === 1 ? (next.children[0] ?? next) : (next.children.at(-1) ?? next);
  }
  return undefined;
}

/** The drawing for those who cannot see it or point at it: a tree of items, one of which has the focus. */
export function TreeNav({ run, chosen, onMark, onRead, onCompare, onZoom }: Props) {
  useChanges(run.changes, 400);
  const { tree } = run;
  const [current, setCurrent] = useState<Segment | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const order = tree.inOrder();
  const active = current !== null && tree.segments.get(current.id) === current ? current : (order[0] ?? null);
  useEffect(() => setCurrent(null), [tree]);

  const go = (segment: Segment) => {
    setCurrent(segment);
    list.current?.querySelector<HTMLElement>(`[data-segment="${segment.id}"]`)?.focus();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || active === null) return;
    const zooms: Record<string, number> = { '+': 1.5, '=': 1.5, '-': 1 / 1.5, '0': 0 };
    const next = neighbour(tree, order, active, event.key);
    if (next !== undefined) go(next);
    else if (event.key === 'Enter' || event.key === ' ') onRead(active);
    else if (event.key === 'c') onCompare(active);
    else if (zooms[event.key] !== undefined) onZoom(zooms[event.key]!);
    else if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
  };
  if (order.length === 0) return null;
  return (
    <ul
      class="tree-nav"
      role="tree"
      ref={list}
      aria-label="Tree. Arrow keys move, Enter reads a branch, C compares it with the one being read, plus and minus zoom."
      onKeyDown={pressed}
    >
      {order.map((segment) => {
        const siblings = segment.parent === null ? tree.roots : segment.parent.children;
        return (
          <li
            key={segment.id}
            class="unseen"
            role="treeitem"
            data-segment={segment.id}
            tabIndex={segment === active ? 0 : -1}
            aria-level={pathTo(segment).length}
            aria-setsize={siblings.length}
            aria-posinset={siblings.indexOf(segment) + 1}
            aria-expanded={!segment.isLeaf ? true : undefined}
            aria-selected={segment === chosen}
            onFocus={() => {
              setCurrent(segment);
              onMark(segment);
            }}
            onBlur={() => onMark(null)}
          >
            {describe(tree, segment)}
          </li>
        );
      })}
    </ul>
  );
}
