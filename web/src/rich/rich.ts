/**
 * Markdown and mathematics as the page's own elements. Nothing that a model or a client wrote becomes markup: the text is
 * read into tokens, and each token becomes an element from a short list, or stays text.
 */
import { h, type ComponentChildren } from 'preact';
import MarkdownIt, { type BlockState, type InlineState, type Token } from 'markdown-it';
import { printable } from '../model/printable';
import { mathOf } from './math';
import { formulaAt } from './math_rules';

/** Longer texts are shown as they are written: nobody waits for a page that reads a novel. */
export const kLongestText = 20000; // characters
const kMostFormulas = 300;

const markdown = new MarkdownIt('default', { html: false, linkify: false, breaks: true, maxNesting: 40 });
const isAddress = (address: string) => /^(https?:|mailto:)/i.test(address);
markdown.validateLink = isAddress;

markdown.inline.ruler.before('escape', 'formula', (state: InlineState, silent: boolean) => {
  const formula = formulaAt(state.src, state.pos);
  if (formula === null || state.pos + formula.length > state.posMax) return false;
  if (!silent) {
    const token = state.push('formula', '', 0);
    token.content = state.src.slice(state.pos, state.pos + formula.length);
    token.meta = formula;
  }
  state.pos += formula.length;
  return true;
});

/** A formula on lines of its own: a line of it may begin as a list or a heading does. */
markdown.block.ruler.before(
  'fence',
  'formula_block',
  (state: BlockState, start: number, end: number, silent: boolean) => {
    if (state.sCount[start]! - state.blkIndent >= 4) return false;
    const at = state.bMarks[start]! + state.tShift[start]!;
    const formula = formulaAt(state.src, at);
    if (formula === null || !formula.display) return false;
    let line = start;
    while (line < end && state.eMarks[line]! < at + formula.length) ++line;
    if (line >= end || state.src.slice(at + formula.length, state.eMarks[line]).trim() !== '') return false;
    if (silent) return true;
    const token = state.push('formula_block', '', 0);
    token.content = state.src.slice(at, at + formula.length);
    token.meta = formula;
    token.block = true;
    state.line = line + 1;
    return true;
  },
  { alt: ['paragraph', 'blockquote', 'list'] },
);

const kTags = new Set(
  'p ul ol li blockquote table thead tbody tr th td strong em s code pre hr br a h1 h2 h3 h4 h5 h6'.split(' '),
);

interface Open {
  tag: string;
  properties: Record<string, unknown>;
  children: ComponentChildren[];
}

function propertiesOf(token: Token): Record<string, unknown> {
  if (token.tag === 'a') {
    const href = token.attrGet('href') ?? '';
    return { href, target: '_blank', rel: 'noopener noreferrer nofollow' };
  }
  if (token.tag === 'ol') {
    const start = Number(token.attrGet('start') ?? NaN);
    return Number.isSafeInteger(start) ? { start } : {};
  }
  const align = /text-align:\s*(right|center)/.exec(token.attrGet('style') ?? '')?.[1];
  return align === undefined ? {} : { class: `align-${align}` };
}

/** What may be wider than the page is moved by keyboard, too. */
const kScrolls = (name: string) => ({ tabIndex: 0, role: 'group', 'aria-label': name });

/** The page has headings of its own: those of a text are paragraphs that look like some. */
function element({ tag, properties, children }: Open): ComponentChildren {
  if (/^h[1-6]$/.test(tag)) return h('p', { class: 'rich-heading' }, ...children);
  if (tag === 'table') return h('div', { class: 'rich-table', ...kScrolls('Table') }, h('table', {}, ...children));
  return h(tag, properties, ...children);
}

function leaf(token: Token, formulas: { left: number }): ComponentChildren {
  switch (token.type) {
    case 'text':
    case 'text_special': // an entity may name a character that acts on the text around it
      return printable(token.content);
    case 'code_inline':
      return h('code', {}, token.content);
    case 'fence':
    case 'code_block':
      return h('pre', kScrolls('Code'), h('code', {}, token.content.replace(/\n$/, '')));
    case 'hr':
    case 'hardbreak':
    case 'softbreak':
      return h(token.type === 'hr' ? 'hr' : 'br', {});
    case 'image': // nothing is fetched from anywhere
      return `[${token.content}]`;
    case 'formula':
    case 'formula_block': {
      const { tex, display } = token.meta as { tex: string; display: boolean };
      const math = formulas.left-- > 0 ? mathOf(tex, display) : null;
      const shown = math ?? token.content;
      return display ? h('div', { class: 'rich-formula', ...kScrolls('Formula') }, shown) : shown;
    }
    default:
      return printable(token.content);
  }
}

function build(tokens: Token[], formulas: { left: number }): ComponentChildren[] {
  const stack: Open[] = [{ tag: '', properties: {}, children: [] }];
  for (const token of tokens) {
    const top = stack[stack.length - 1]!;
    if (token.hidden) continue; // paragraphs of a tight list
    if (token.type === 'link_open' && !isAddress(token.attrGet('href') ?? '')) {
      stack.push({ tag: 'span', properties: {}, children: [] }); // [x]() leads nowhere
    } else if (token.nesting === 1 && kTags.has(token.tag)) {
      stack.push({ tag: token.tag, properties: propertiesOf(token), children: [] });
    } else if (token.nesting === -1 && kTags.has(token.tag)) {
      const closed = stack.length > 1 ? stack.pop()! : top;
      stack[stack.length - 1]!.children.push(element(closed));
    } else if (token.type === 'inline') {
      top.children.push(...build(token.children ?? [], formulas));
    } else if (token.nesting === 0) {
      top.children.push(leaf(token, formulas));
    }
  }
  return stack[0]!.children;
}

/** `text` with its paragraphs, lists, tables, code and formulas; null where it is too long for that. */
export function richText(text: string): ComponentChildren[] | null {
  if (text.length > kLongestText) return null;
  return build(markdown.parse(text, {}), { left: kMostFormulas });
}

const kFormulaSigns = /[\\^_]|\d\/\d/;

/** An answer alone is often a formula without its dollars. Null where it is none. */
export function richAnswer(answer: string): ComponentChildren {
  const formula = /^\$+([\s\S]*?)\$+$/.exec(answer)?.[1] ?? answer;
  if (!kFormulaSigns.test(formula) || /[<>{}]{4}/.test(formula)) return null;
  return mathOf(formula, false);
}
