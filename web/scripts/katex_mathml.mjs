/**
 * KaTeX can write HTML and MathML; the page has MathML alone. Without what only HTML needs (the builders, the shapes of
 * brackets, the sizes of letters in twenty fonts) KaTeX is less than half as large, which counts in every file that
 * `dts tree --format html` writes. What is left says the same: test/rich.test.ts compares it with the whole.
 */

/** The one font whose letters MathML asks for: is there an upright one? */
const kFont = 'Main-Regular';

/** Calls `visit` with every node of a syntax tree. */
function walk(node, visit) {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit);
    return;
  }
  if (typeof node.type === 'string') visit(node);
  for (const value of Object.values(node)) walk(value, visit);
}

const keyOf = ({ key }) => key?.name ?? key?.value;

export function katexMathml() {
  return {
    name: 'katex-mathml',
    transform(code, id) {
      if (!/\/katex\/dist\/katex\.mjs(\?|$)/.test(id)) return null;
      const replaced = []; // [start, end, text]
      let fonts = 0;
      walk(this.parse(code), (node) => {
        if (node.type === 'VariableDeclarator' && node.id.name === 'fontMetricsData') {
          const kept = node.init.properties.filter((property) => keyOf(property) === kFont);
          fonts = kept.length;
          const text = kept.map(({ start, end }) => code.slice(start, end)).join();
          replaced.push([node.init.start, node.init.end, `{${text}}`]);
        }
        if (node.type === 'VariableDeclarator' && node.id.name === 'stretchy') {
          replaced.push([node.init.start, node.init.end, '{ mathMLnode }']);
        }
        if (node.type !== 'ObjectExpression') return;
        for (const property of node.properties) {
          if (keyOf(property) === 'htmlBuilder')
            replaced.push([property.start, property.end, 'htmlBuilder: undefined']);
        }
      });
      if (fonts !== 1 || replaced.length < 10)
        this.error('KaTeX is not as it was: scripts/katex_mathml.mjs has to follow');
      let out = code;
      for (const [start, end, text] of replaced.sort((a, b) => b[0] - a[0])) {
        out = out.slice(0, start) + text + out.slice(end);
      }
      out += `
export const __mathml = (tex, options) => {
  const settings = new Settings(options);
  return buildMathML(parseTree(tex, settings), tex, optionsFromSettings(settings), settings.displayMode, true);
};
`;
      return { code: out, map: null };
    },
  };
}
