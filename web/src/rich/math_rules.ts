/** Where mathematics stands in a text: $…$, $$…$$, \(…\), \[…\], \boxed{…} and \begin{…}…\end{…}. */

export interface Formula {
  tex: string;
  display: boolean;
  length: number; // characters it takes in the text
}

const kLongest = 2000;

/** The index after the brace that closes the one at `open`; -1 when none does. */
function braceEnd(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length && i - open <= kLongest; ++i) {
    if (text[i] === '\\') ++i;
    else if (text[i] === '{') ++depth;
    else if (text[i] === '}' && --depth === 0) return i + 1;
  }
  return -1;
}

/** Where `wanted` comes next, as far as a formula can reach; -1 when it does not. */
function nextOf(text: string, wanted: string, from: number): number {
  const found = text.slice(from, from + kLongest + wanted.length).indexOf(wanted);
  return found < 0 ? -1 : from + found;
}

function between(text: string, at: number, open: string, close: string, display: boolean): Formula | null {
  if (!text.startsWith(open, at)) return null;
  const end = nextOf(text, close, at + open.length);
  if (end < 0) return null;
  const tex = text.slice(at + open.length, end);
  if (tex.trim() === '' || /\n\s*\n/.test(tex)) return null;
  return { tex, display, length: end + close.length - at };
}

/** One dollar is often money: it opens before something, and closes after something and before no digit. */
function dollars(text: string, at: number): Formula | null {
  if (text[at] !== '$' || /[\s$]/.test(text[at + 1] ?? ' ')) return null;
  for (let end = at + 1; end < text.length && end - at <= kLongest; ++end) {
    const character = text[end]!;
    if (character === '\\') ++end;
    else if (character === '\n' && text[end + 1] === '\n') return null;
    else if (character === '$') {
      if (/\s/.test(text[end - 1]!) || /[0-9]/.test(text[end + 1] ?? '')) return null;
      return { tex: text.slice(at + 1, end), display: false, length: end + 1 - at };
    }
  }
  return null;
}

/** The formula that begins at `at`, if one does. */
export function formulaAt(text: string, at: number): Formula | null {
  if (text[at] === '$') return between(text, at, '$$', '$$', true) ?? dollars(text, at);
  if (text[at] !== '\\') return null;
  const marked = between(text, at, '\\(', '\\)', false) ?? between(text, at, '\\[', '\\]', true);
  if (marked !== null) return marked;
  const boxed = /^\\(?:boxed|fbox)\{/.exec(text.slice(at, at + 8));
  if (boxed !== null) {
    const end = braceEnd(text, at + boxed[0].length - 1);
    return end < 0 ? null : { tex: text.slice(at, end), display: false, length: end - at };
  }
  const begin = /^\\begin\{([a-z]{1,20}\*?)\}/.exec(text.slice(at, at + 32));
  if (begin === null) return null;
  const close = `\\end{${begin[1]!}}`;
  const end = nextOf(text, close, at);
  if (end < 0) return null;
  return { tex: text.slice(at, end + close.length), display: true, length: end + close.length - at };
}
