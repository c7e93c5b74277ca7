/** The runs in the page's address: #run=ID, or #runs=ID,ID side by side, one of which may be shown in full. */

export interface Named {
  ids: string[];
  focus: string | null;
}

const kMostLanes = 24; // an address can be any length

export function namedRuns(hash: string): Named {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const run = fields.get('run') ?? '';
  const ids = (fields.get('runs') ?? '').split(',').filter((id) => id !== '');
  if (ids.length === 0) return { ids: run === '' ? [] : [run], focus: null };
  return { ids: [...new Set(ids)].slice(0, kMostLanes), focus: ids.includes(run) ? run : null };
}

export function nameRuns(ids: string[], focus: string | null): string {
  if (ids.length === 1) return `#run=${encodeURIComponent(ids[0]!)}`;
  const all = `#runs=${ids.map(encodeURIComponent).join(',')}`;
  return focus === null ? all : `${all}&run=${encodeURIComponent(focus)}`;
}
