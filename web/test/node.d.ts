/** What tests use of Node.js. */
declare module 'node:fs' {
  export function readFileSync(path: URL, encoding: 'utf8'): string;
}
declare module 'node:module' {
  export function createRequire(path: string): (name: string) => unknown;
}
