import { readFileSync, readdirSync } from 'node:fs';

/** The licences of the libraries that the modules `ids` belong to, as their authors ask. @param {Iterable<string>} ids */
export function licenceTexts(ids) {
  const packages = new Set();
  for (const id of ids) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(id)?.[1];
    if (name !== undefined) packages.add(name);
  }
  /** @type {Map<string, string[]>} those of one text */
  const named = new Map();
  for (const name of [...packages].sort()) {
    const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
    const file = readdirSync(`node_modules/${name}`).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence`);
    const text = readFileSync(`node_modules/${name}/${file}`, 'utf8').trim();
    named.set(text, [...(named.get(text) ?? []), `${name} ${version}`]);
  }
  const texts = [...named].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
