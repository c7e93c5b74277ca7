import { useEffect, useMemo, useReducer } from 'preact/hooks';

type Rich = typeof import('../rich/rich');

let rich: Rich | null = null;
let load: (() => Promise<Rich>) | null = null;
let loading: Promise<void> | null = null;

/** Where it comes from: a page that is a file has it inside, one that is served fetches it. */
export function richFrom(source: Rich | (() => Promise<Rich>)): void {
  if (typeof source === 'function') load = source;
  else rich = source;
}

/** What reads Markdown and mathematics: fetched when something is first to be read, not with the page. */
export function useRich(): Rich | null {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (rich !== null || load === null) return undefined;
    let wanted = true;
    loading ??= load().then((module) => {
      rich = module;
    });
    loading.then(
      () => wanted && again(undefined),
      () => (loading = null), // the text is shown as it is written; the next one tries again
    );
    return () => {
      wanted = false;
    };
  }, []);
  return rich;
}

/** A text with its Markdown and formulas; as it is written where that is not to be had. */
export function RichText({ text }: { text: string }) {
  const reader = useRich();
  const shown = useMemo(() => reader?.richText(text) ?? null, [reader, text]);
  return shown === null ? <div class="text-block">{text}</div> : <div class="rich">{shown}</div>;
}

/** An answer on its own: a formula where it is one. */
export function AnswerText({ answer }: { answer: string }) {
  const reader = useRich();
  const shown = useMemo(() => reader?.richAnswer(answer) ?? null, [reader, answer]);
  return <>{shown ?? answer}</>;
}
