import { fileURLToPath } from 'node:url';

const own = (file) => fileURLToPath(new URL(`../src/rich/${file}`, import.meta.url));

/** Parts of libraries that the page has in a smaller size, or not at all. */
export const alias = [
  { find: /^entities$/, replacement: own('entities.ts') },
  { find: /^linkify-it$/, replacement: own('no_linkify.ts') },
];
