import { fileURLToPath } from 'node:url';

/** Parts of libraries that the page has in a smaller size. */
export const alias = [
  { find: /^entities$/, replacement: fileURLToPath(new URL('../src/rich/entities.ts', import.meta.url)) },
];
