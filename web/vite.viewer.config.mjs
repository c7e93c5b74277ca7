/** The viewer in the files of `dts tree --format html`: one page with its script and its style inside. */
import { createHash } from 'node:crypto';
import { defineConfig } from 'vite';
import { alias } from './scripts/alias.mjs';
import { katexMathml } from './scripts/katex_mathml.mjs';
import { licenceTexts } from './scripts/licences.mjs';

/** A source of a Content-Security-Policy: this text and no other. */
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Puts the one script and the one style into the page, with a policy that allows them and nothing else. */
function singleFile() {
  return {
    name: 'single-file',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const take = (suffix) => {
        const names = Object.keys(bundle).filter((name) => name.endsWith(suffix));
        if (names.length !== 1) this.error(`one ${suffix} file should have been made, not ${names.length}`);
        const { code, source } = bundle[names[0]];
        delete bundle[names[0]];
        return String(code ?? source).trim();
      };
      const [code, style] = [take('.js'), take('.css')];
      const licences = licenceTexts(this.getModuleIds()).replaceAll('*/', '* /');
      // In literals, which is where these can stand, other spellings mean the same.
      const spelled = code.replace(/<!--/g, '<\\x21--').replace(/<\/(?=script)/gi, '<\\/');
      const script = `/*\n${licences}*/\n${spelled}`;
      // Either would end its element, or the way its text is read, before its end.
      if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) this.error('the page cannot hold its own script');
      const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}`;
      const page = bundle['viewer.html'];
      const put = (pattern, text) => {
        if (!pattern.test(page.source)) this.error(`viewer.html has no ${pattern}`);
        page.source = page.source.replace(pattern, () => text);
      };
      put(/<link rel="stylesheet"[^>]*>/, `<style>${style}</style>`);
      put(/<script type="module"[^>]*><\/script>/, `<script type="module">${script}</script>`);
      put(
        /<meta charset="utf-8" \/>/,
        `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
      );
    },
  };
}

export default defineConfig({
  plugins: [katexMathml(), singleFile()],
  resolve: { alias },
  esbuild: { charset: 'ascii' }, // no control character as it is, in a page that is a file
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: 'viewer.html' },
  },
});
