import { useEffect, useReducer } from 'preact/hooks';
import type { Changes } from '../app/frames';

/** Renders again after changes, at most every `interval` milliseconds: text need not keep up with frames. */
export function useChanges(changes: Changes | undefined, interval = 0): void {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (changes === undefined) return undefined;
    let last = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const render = () => {
      timer = undefined;
      last = performance.now();
      renderAgain(undefined);
    };
    const unsubscribe = changes.subscribe(() => {
      if (timer === undefined) timer = setTimeout(render, Math.max(0, last + interval - performance.now()));
    });
    render(); // what changed before the subscription
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [changes, interval]);
}
