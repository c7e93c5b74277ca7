/**
 * TeX as MathML, made of the page's own elements: KaTeX reads the formula, and what it makes is copied tag by tag from a
 * list of what may be shown. Whatever a formula says, no markup, address, style or colour of its own reaches the page.
 */
import { __mathml, type Built } from 'katex';
import { h, type VNode } from 'preact';

const kLongest = 2000; // characters of one formula
const kDeepest = 60; // levels of elements

const kTags = new Set(
  (
    'math mrow mi mn mo mtext ms mspace msup msub msubsup mfrac msqrt mroot munder mover munderover mtable mtr mtd ' +
    'mstyle mpadded mphantom menclose merror'
  ).split(' '),
);

const kAttributes = new Set(
  (
    'display mathvariant stretchy fence separator lspace rspace minsize maxsize width height depth voffset ' +
    'linethickness columnalign rowspacing columnspacing columnlines rowlines accent accentunder movablelimits ' +
    'scriptlevel displaystyle notation symmetric largeop form mathsize'
  ).split(' '),
);

const kPlainValue = /^[a-z0-9 .%+-]{0,60}$/i;

type Shown = VNode | string | null;

const element = (tag: string, attributes: Record<string, string>, children: Shown[]) =>
  h(tag, attributes, children) as VNode;

function copied(node: Built, depth: number): Shown | Shown[] {
  if (typeof node.text === 'string') return node.text;
  const children = node.children ?? [];
  if (node.type === undefined) {
    // A space, or something that only holds others.
    if (typeof node.width === 'number' && node.character !== undefined) {
      return node.character ?? element('mspace', { width: `${Math.min(Math.max(node.width, -2), 20)}em` }, []);
    }
    return children.flatMap((child) => copied(child, depth + 1));
  }
  // Beside the formula there is its source, which would be read out twice.
  if (node.type === 'semantics') return children.length > 0 ? copied(children[0]!, depth + 1) : null;
  if (!kTags.has(node.type) || depth > kDeepest) return children.flatMap((child) => copied(child, depth + 1));
  // Browsers do not agree on frames: this one is drawn by the page's style (reading.css).
  const framed = node.type === 'menclose' && node.attributes?.notation === 'box';
  const attributes: Record<string, string> = framed ? { class: 'framed' } : {};
  for (const [name, value] of Object.entries(node.attributes ?? {})) {
    if (!framed && kAttributes.has(name) && typeof value === 'string' && kPlainValue.test(value))
      attributes[name] = value;
  }
  return element(
    framed ? 'mrow' : node.type,
    attributes,
    children.flatMap((child) => copied(child, depth + 1)),
  );
}

/** The formula, or null where it is none that can be shown: its text is shown then. */
export function mathOf(tex: string, display: boolean): VNode | null {
  if (tex.trim() === '' || tex.length > kLongest) return null;
  try {
    const built = __mathml(tex, {
      displayMode: display,
      trust: false,
      strict: 'ignore',
      throwOnError: true,
      maxSize: 10,
      maxExpand: 200,
      macros: {},
    });
    const nodes = [copied(built, 0)].flat();
    const found = nodes.find((node): node is VNode => node !== null && typeof node === 'object');
    return found === undefined || nodes.length > 1 ? element('math', {}, nodes) : found;
  } catch {
    return null;
  }
}
