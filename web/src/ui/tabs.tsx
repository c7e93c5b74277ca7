import { useId, useRef } from 'preact/hooks';

interface Props<Name extends string> {
  label: string;
  names: Partial<Record<Name, string>>; // in the order of the tabs
  current: Name;
  onChange(name: Name): void;
  /** Beside the tabs. */
  aside?: preact.ComponentChildren;
  children: preact.ComponentChildren;
}

/** Tabs as the ARIA practices have them: arrows move among them, one is in the tab order. */
export function Tabs<Name extends string>({ label, names, current, onChange, aside, children }: Props<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const all = Object.keys(names) as Name[];
  const pressed = (event: KeyboardEvent) => {
    const at = all.indexOf(current);
    const targets: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const name = all[(target + all.length) % all.length]!;
    onChange(name);
    list.current?.querySelector<HTMLElement>(`[data-tab="${name}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tabs-head">
        <div role="tablist" aria-label={label} ref={list} onKeyDown={pressed}>
          {all.map((name) => (
            <button
              type="button"
              role="tab"
              key={name}
              id={`${id}-${name}`}
              data-tab={name}
              aria-selected={name === current}
              aria-controls={`${id}-panel`}
              tabIndex={name === current ? 0 : -1}
              onClick={() => onChange(name)}
            >
              {names[name]}
            </button>
          ))}
        </div>
        {aside}
      </div>
      <div role="tabpanel" class="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`}>
        {children}
      </div>
    </div>
  );
}
