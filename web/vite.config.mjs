import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

/** The licences of the libraries in the page, as their authors ask: /licenses.txt. */
function licences() {
  return {
    name: 'licences',
    apply: 'build',
    generateBundle() {
      const packages = new Set();
      for (const id of this.getModuleIds()) {
        const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(id)?.[1];
        if (name !== undefined) packages.add(name);
      }
      const texts = [...packages].sort().map((name) => {
        const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
        return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}\n`;
      });
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) });
    },
  };
}

const server = process.env.DTS_SERVER ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [licences()],
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
  test: { include: ['test/**/*.test.ts'] },
});
