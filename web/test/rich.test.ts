import { createRequire } from 'node:module';
import fc from 'fast-check';
import { __mathml } from 'katex';
import { isValidElement, type ComponentChildren, type VNode } from 'preact';
import { describe, expect, it } from 'vitest';
import { mathOf } from '../src/rich/math';
import { formulaAt } from '../src/rich/math_rules';
import { kLongestText, richAnswer, richText } from '../src/rich/rich';

interface Found {
  tag: string;
  properties: Record<string, unknown>;
}

/** All elements below, and all text. */
function contents(node: ComponentChildren, found: Found[] = [], text: string[] = []): { found: Found[]; text: string } {
  if (Array.isArray(node)) for (const child of node) contents(child as ComponentChildren, found, text);
  else if (typeof node === 'string' || typeof node === 'number') text.push(String(node));
  else if (isValidElement(node)) {
    const { children, ...properties } = (node as VNode<{ children?: ComponentChildren }>).props;
    found.push({ tag: String(node.type), properties });
    contents(children, found, text);
  }
  return { found, text: text.join('') };
}

const tagsOf = (source: string) => contents(richText(source)).found.map(({ tag }) => tag);
const textOf = (source: string) => contents(richText(source)).text;

const kHtml = new Set(
  'p ul ol li blockquote table thead tbody tr th td strong em s code pre hr br a div span'.split(' '),
);

const kNever = new Set(['style', 'dangerouslySetInnerHTML', 'innerHTML', 'src', 'srcset', 'id', 'xlink:href']);

/** What must hold of anything that is shown. */
function expectHarmless(node: ComponentChildren): void {
  const wrong = contents(node).found.filter(({ tag, properties }) => {
    if (!(kHtml.has(tag) || /^m[a-z]+$/.test(tag)) || tag === 'maction') return true;
    return Object.entries(properties).some(([name, value]) => {
      if (/^on/i.test(name) || kNever.has(name)) return true;
      if (name !== 'href') return false;
      return tag !== 'a' || !/^(https?:|mailto:)/.test(String(value)) || !String(properties.rel).includes('noopener');
    });
  });
  expect(wrong).toEqual([]);
}

describe('Markdown', () => {
  it('becomes paragraphs, lists, tables and code', () => {
    expect(tagsOf('# A\n\nb **c** *d* `e`\n\n- f\n- g\n\n1. h\n\n> i\n\n```\nj\n```')).toEqual(
      'p p strong em code ul li li ol li blockquote p pre code'.split(' '),
    );
    expect(tagsOf('| a | b |\n|---|--:|\n| 1 | 2 |')).toEqual('div table thead tr th th tbody tr td td'.split(' '));
    expect(textOf('a\nb')).toBe('ab');
  });

  it('links only to where a reader can go, and fetches nothing', () => {
    const { found } = contents(richText('[a](https://example.org/x) [b](mailto:x@example.org)'));
    expect(found.filter(({ tag }) => tag === 'a').map(({ properties }) => properties.href)).toEqual([
      'https://example.org/x',
      'mailto:x@example.org',
    ]);
    for (const address of [
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'java\tscript:alert(1)',
      ' javascript:alert(1)',
      '&#106;avascript:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'vbscript:x',
      'file:///etc/passwd',
      '//example.org',
      '/v1/trees',
      '#run=x',
      '',
    ]) {
      const shown = richText(`[press](${address}) <${address}> ![image](${address})`);
      expect(
        contents(shown).found.map(({ tag }) => tag),
        address,
      ).not.toContain('a');
      expect(
        contents(shown).found.map(({ tag }) => tag),
        address,
      ).not.toContain('img');
    }
  });

  it('names characters, but none that act', () => {
    expect(textOf('1 &lt; 2 &times; 3 &nonsense; &constructor; &#65;')).toBe('1 < 2 × 3 &nonsense; &constructor; A');
    expect(textOf('a&#8238;b&#27;c&#x202e;d')).toBe('a\ufffdb\ufffdc\ufffdd');
  });

  it('leaves markup as text', () => {
    const evil = '<script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>';
    expect(textOf(evil)).toBe(evil);
    expect(textOf(`a\n\n<div>\n${evil}\n</div>`)).toContain(evil);
    expectHarmless(richText(evil));
  });
});

describe('mathematics', () => {
  const mathIn = (source: string) => tagsOf(source).filter((tag) => tag === 'math').length;

  it('is found between its signs', () => {
    expect(mathIn('so $x^2$ and \\(y\\) is')).toBe(2);
    expect(mathIn('$$\nx\n= 3\n$$')).toBe(1);
    expect(mathIn('\\[\n- a\n\\]')).toBe(1);
    expect(mathIn('The answer is \\boxed{244}.')).toBe(1);
    expect(mathIn('\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}')).toBe(1);
    expect(tagsOf('\\boxed{\\frac{1}{2}}')).toContain('mfrac');
    expect(textOf('It is $\\frac{1}{2}$.')).toBe('It is 12.');
  });

  it('is not what money is', () => {
    expect(mathIn('It costs $5 and then $6 more.')).toBe(0);
    expect(textOf('It costs $5 and then $6 more.')).toBe('It costs $5 and then $6 more.');
    expect(mathIn('`$x$`')).toBe(0);
  });

  it('that cannot be read stays text', () => {
    for (const wrong of ['$\\frac{1$', '$\\undefinedcommand{x}$', '\\boxed{', '$$', '\\begin{matrix} a']) {
      expect(textOf(wrong)).toBe(wrong);
    }
  });

  it('brings no addresses, styles or colours with it', () => {
    for (const evil of [
      '\\href{javascript:alert(1)}{x}',
      '\\url{javascript:alert(1)}',
      '\\htmlData{onclick=alert(1)}{x}',
      '\\htmlStyle{position:fixed}{x}',
      '\\htmlClass{page}{x}',
      '\\htmlId{page}{x}',
      '\\includegraphics{https://example.org/x.png}',
      '\\color{white}{x}',
      '\\text{<script>alert(1)</script>}',
      '\\rule{1000000em}{1000000em}',
      '\\kern{999999em}x',
      '\\def\\x{\\x\\x}\\x',
      '\\def\\a{xx}\\def\\b{\\a\\a}\\def\\c{\\b\\b\\b\\b}\\c\\c\\c\\c',
      '{'.repeat(900) + '}'.repeat(900),
      '\\sqrt{'.repeat(200) + '}'.repeat(200),
    ]) {
      expectHarmless(mathOf(evil, false));
      expectHarmless(richText(`a $${evil}$ b`));
      for (const { properties } of contents(mathOf(evil, true)).found) {
        for (const value of Object.values(properties)) {
          expect(String(value)).not.toMatch(/script|alert|http|onclick|fixed|page/);
          const length = /^-?([\d.]+)em$/.exec(String(value))?.[1];
          if (length !== undefined) expect(Number(length)).toBeLessThanOrEqual(40);
        }
      }
    }
  });

  it('in an answer alone needs no signs', () => {
    expect(contents(richAnswer('\\frac{1}{2}')).found.map(({ tag }) => tag)).toContain('mfrac');
    expect(richAnswer('244')).toBeNull();
    expect(richAnswer('Paris')).toBeNull();
  });
});

describe('whatever is written', () => {
  const pieces = fc.constantFrom(
    ...[
      '$',
      '$$',
      '\\(',
      '\\)',
      '\\[',
      '\\]',
      '{',
      '}',
      '\\frac',
      '\\boxed{',
      '\\href{',
      '\\begin{cases}',
      '\\end{cases}',
    ],
    ...[
      '**',
      '_',
      '`',
      '```\n',
      '> ',
      '- ',
      '1. ',
      '|',
      '\n',
      '\n\n',
      '[',
      '](',
      ')',
      '<',
      '>',
      '&lt;',
      '<script>',
      '\\',
    ],
    ...['javascript:', 'https://a.b', 'x', '2', ' ', '^', '#', '![', '<!--', '&#x6a;'],
  );

  it('is shown without harm', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (list) => expectHarmless(richText(list.join('')))),
      { numRuns: 500 },
    );
  });

  it('comes to an end, however large', { timeout: 60000 }, () => {
    const large = (piece: string) => piece.repeat(Math.ceil(kLongestText / piece.length)).slice(0, kLongestText);
    for (const piece of [
      '[',
      '(',
      '*',
      '_',
      '`',
      '> ',
      '- ',
      '|a',
      '$x',
      '\\(',
      '\\boxed{',
      '<',
      '![](',
      '**a',
      '&',
      '\\[',
    ]) {
      expectHarmless(richText(large(piece)));
    }
    expect(richText(large('x') + 'x')).toBeNull();
    expect(mathOf('x'.repeat(2001), false)).toBeNull();
    expect(formulaAt(`$${'x'.repeat(5000)}$`, 0)).toBeNull();
  });
});

describe('KaTeX without HTML', () => {
  /** As it is in its package. */
  const whole = createRequire(import.meta.url)('katex') as {
    __renderToDomTree(tex: string, options: object): { toMarkup(): string };
  };
  const options = (displayMode: boolean) => ({
    displayMode,
    output: 'mathml' as const,
    strict: 'ignore' as const,
    trust: true,
    throwOnError: true,
    macros: {},
  });
  const told = (build: () => { toMarkup(): string }) => {
    try {
      return build().toMarkup();
    } catch (error) {
      return String(error);
    }
  };
  const expectSame = (tex: string) => {
    for (const display of [false, true]) {
      const less = told(() => __mathml(tex, options(display)) as unknown as { toMarkup(): string });
      expect(less, tex).toBe(told(() => whole.__renderToDomTree(tex, options(display))));
    }
  };

  it('says the same of formulas of every kind', () => {
    const formulas = String.raw`
      x^2+y_1' \frac{1}{2} \dfrac12\tfrac12\cfrac12 \binom{n}{k} {a\over b} \sqrt[3]{x} \boxed{42} \fbox{a}
      \left(\frac12\right] \bigl(\Bigm|\biggr)\Bigg\{ \lfloor x\rfloor \underbrace{a+b}_{c} \overbrace{a}^b
      \overline{ab}\underline{c} \vec{a}\hat{b}\widehat{abc}\tilde{x}\bar{y}\dot z \overrightarrow{AB} \xrightarrow[a]{b}
      \xlongequal{x} \sum_{i=1}^n\int_0^1\prod\bigcup\oint \lim_{x\to0} \limsup\sin\operatorname{ab}\operatorname*{c}_d
      \mathbb{R}\mathcal{A}\mathfrak{g}\mathbf{v}\mathrm{d}x\mathsf{a}\mathtt{b}\mathit{c}\boldsymbol{\alpha}\bm{x}
      \text{a~b}\textbf{c}\textit{d}\texttt{e}\textrm{f}\textsf{g}\text{$x$} \alpha\beta\Gamma\infty\partial\nabla\hbar
      \not=\neq\leq\geq\approx\equiv\pmod{7}\bmod\mid\nmid\mapsto\iff\implies \ldots\cdots\vdots\ddots
      \begin{pmatrix}1&2\\3&4\end{pmatrix} \begin{cases}1&x\\2&y\end{cases} \begin{aligned}a&=b\\c&=d\end{aligned}
      \begin{array}{c|r}1&2\\\hline3&4\end{array} \begin{smallmatrix}1\end{smallmatrix} \begin{gathered}a\end{gathered}
      \begin{CD}A@>a>>B\\@VVV@VVV\\C@=D\end{CD} \substack{a\\b} \stackrel{a}{b}\overset{a}{b}\underset{a}{b}
      \phantom{x}\hphantom{y}\vphantom{z}\smash{a} \cancel{x}\bcancel{y}\xcancel{z}\sout{a} \color{red}x\textcolor{blue}{y}
      \colorbox{red}{a}\fcolorbox{red}{blue}{b} \rule{1em}{2em}\kern1em\hskip1em\quad\,\;\! \raisebox{1em}{a}\llap{b}\rlap{c}
      \tiny a\Huge b \displaystyle\sum\textstyle\scriptstyle x \mathop{a}\mathbin{b}\mathrel{c}\mathopen{d}\mathclose{e}
      \href{https://example.org}{a}\url{https://example.org} \htmlClass{a}{b} \tag{1}x \angl n \lang x\rang \verb|a|
      \mathchoice{a}{b}{c}{d} \vcenter{a} \utilde{a}\overgroup{ab}\widecheck{c}\mathring{a}\"a\'e \imath\jmath
      \genfrac(]{1pt}{0}{a}{b} \def\x{y}\x \newcommand{\z}[1]{#1^2}\z{3} \char"41 \KaTeX\TeX 1,000.5 {,} é 中 ∫ α ²
      \bra{a}\ket{b}\braket{a|b}\Set{x|y} \dfrac{ \frac x^2^3 \undefined & \begin{x}`;
    for (const tex of [...formulas.split('\n'), ...formulas.split(/\s+/)]) expectSame(tex);
  });

  it('says the same of whatever is written', () => {
    const pieces = String.raw`\frac \sqrt \left( \right) { } { } ^ _ a 1 + = \mathrm \hat \overline \text & \\ \sum \not`;
    const piece = fc.constantFrom(...pieces.split(' '));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (some) => expectSame(some.join(' '))),
      { numRuns: 300 },
    );
  });
});
