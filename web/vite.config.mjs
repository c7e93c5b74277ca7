import { defineConfig } from 'vite';
import { syntheticTree } from './dev/synthetic.mjs';
import { alias } from './scripts/alias.mjs';
import { katexMathml } from './scripts/katex_mathml.mjs';
import { licenceTexts } from './scripts/licences.mjs';

/** The licences of the libraries in the page: /licenses.txt. */
function licences() {
  return {
    name: 'licences',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: licenceTexts(this.getModuleIds()) });
    },
  };
}

/** `npm run dev` fills viewer.html with a tree made of nothing. */
function sampleTree() {
  return {
    name: 'sample-tree',
    apply: 'serve',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) =>
        html
          .replace('{{title}}', 'A tree')
          .replace('{{content}}', '')
          .replace('{{tree}}', () => JSON.stringify(syntheticTree())),
    },
  };
}

const server = process.env.DTS_SERVER ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [licences(), sampleTree(), katexMathml()],
  optimizeDeps: { exclude: ['katex'] }, // else it would be bundled as it is
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // a strict Content-Security-Policy allows no data: URLs
    modulePreload: { polyfill: false },
  },
  // `npm run dev` beside a server (`dts serve`, or `npm run replay`) on its usual port.
  server: {
    host: '127.0.0.1', // a bare machine may not know the name localhost
    proxy: { '^/(v1|health)': { target: server, changeOrigin: true, headers: { origin: server } } },
  },
  resolve: { alias },
  test: { include: ['test/**/*.test.ts'], testTimeout: 60000, server: { deps: { inline: ['katex', 'markdown-it'] } } },
});
