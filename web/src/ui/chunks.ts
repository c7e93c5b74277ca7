/** A long text in blocks: the browser lays out and paints only those in sight (content-visibility). */
import type { TextRun } from '../model/branch_text';

export interface Block {
  part: TextRun['part'];
  runs: TextRun[];
}

const kBlock = 1200; // characters after which a block ends at the next line
const kLongest = 4000; // and where it ends at the next space

/** Where to end a block that has `already` characters before `text`: an index into it, or -1. */
function cutAt(text: string, already: number): number {
  const line = text.indexOf('\n', Math.max(0, kBlock - already));
  const latest = Math.max(0, kLongest - already);
  if (line >= 0 && line < latest) return line + 1;
  const space = text.indexOf(' ', latest);
  return space >= 0 ? space + 1 : -1;
}

/** Without the white space around a part. */
function trimmed(runs: TextRun[]): TextRun[] {
  const kept = runs.map((run, i) => {
    let { text } = run;
    if (runs[i - 1]?.part !== run.part) text = text.trimStart();
    if (runs[i + 1]?.part !== run.part) text = text.trimEnd();
    return run.decided !== null && text === '' ? run : { ...run, text }; // a decision is shown, whatever it is
  });
  return kept.filter((run) => run.text !== '');
}

/** Blocks of whole lines, unless lines are too long; a part starts a block. White space around parts is left out. */
export function chunkRuns(runs: TextRun[]): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let length = 0;
  for (const run of trimmed(runs)) {
    if (open === null || open.part !== run.part) {
      open = { part: run.part, runs: [] };
      blocks.push(open);
      length = 0;
    }
    let { text } = run;
    for (;;) {
      const cut = run.decided === null ? cutAt(text, length) : -1;
      if (cut < 0 || cut >= text.length) break;
      open.runs.push({ ...run, text: text.slice(0, cut) });
      text = text.slice(cut);
      open = { part: run.part, runs: [] };
      blocks.push(open);
      length = 0;
    }
    open.runs.push({ ...run, text });
    length += text.length;
  }
  return blocks;
}
