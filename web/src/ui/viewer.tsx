import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SavedTree } from '../app/saved_tree';
import { RunView } from './run_view';
import { saveFile } from './save_file';

interface Props {
  saved: SavedTree;
  json: string; // the file it was read from
  details: Element | null; // what the page says without scripts, and the views do not
}

/** One saved tree, in the views of the page. */
export function Viewer({ saved, json, details }: Props) {
  return (
    <div class="page viewer">
      <header class="top">
        <h1>Decoding Tree Sketching</h1>
        <p class="hint">{saved.tree.opening?.model}</p>
      </header>
      <main>
        <RunView
          run={saved}
          name="tree"
          onSaveJson={() => saveFile('tree.json', 'application/json', json)}
          details={details === null ? undefined : <Copy of={details} />}
        />
      </main>
    </div>
  );
}

/** The original stays where it is, for printing. */
function Copy({ of }: { of: Element }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current!.replaceChildren(of.cloneNode(true)), [of]);
  return <div class="plain details" ref={box} tabIndex={0} role="region" aria-label="Details" />;
}
