import type { Shown } from '../app/shown';
import { formatBytes, formatCount, formatSeconds } from '../draw/words';

/** How far a run is, how fast, how long it can still take, and what the server holds for it. */
export function Progress({ run }: { run: Shown }) {
  const { tree } = run;
  const most = tree.opening?.maxTokens ?? NaN;
  if (tree.segments.size === 0 || !Number.isFinite(most) || most <= 0) return null;
  return (
    <div class="progress">
      <progress
        max={most}
        value={Math.min(tree.step, most)}
        aria-label="Steps of the budget"
        aria-valuetext={progressWords(run)}
      />
      <p class="figures">{progressWords(run)}</p>
    </div>
  );
}

export function progressWords({ tree }: Pick<Shown, 'tree'>): string {
  const most = tree.opening?.maxTokens ?? NaN;
  const parts = [`Step ${formatCount(tree.step)} of at most ${formatCount(most)}`];
  const { seconds, memory } = tree;
  if (seconds > 0.2 && tree.step > 0) {
    parts.push(`${formatCount(Math.round(tree.tokens / seconds))} tokens a second`);
    // Branches may finish long before: what is known is the longest it can take at this pace.
    parts.push(`at most ${formatSeconds(((most - tree.step) * seconds) / tree.step)} left`);
  }
  if (memory > 0) parts.push(`${formatBytes(memory)} of memory`);
  return parts.join(' · ');
}
