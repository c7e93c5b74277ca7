/** The page that `dts tree --format html` writes: without this script it is a document, with it a viewer. */
import { render } from 'preact';
import { SavedTree } from './app/saved_tree';
import { isObject, parseJson } from './model/json';
import * as rich from './rich/rich';
import { richFrom } from './ui/rich_text';
import { Viewer } from './ui/viewer';

richFrom(rich);

const json = document.getElementById('tree')?.textContent ?? '';
const plain = document.getElementById('plain');
const file = parseJson(json);
if (isObject(file)) {
  const saved = new SavedTree(file);
  const details = plain?.querySelector('.about') ?? null;
  render(<Viewer saved={saved} json={json} details={details} />, document.getElementById('page')!);
  plain?.setAttribute('hidden', ''); // what prints
}
