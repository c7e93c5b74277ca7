// node embed_viewer.mjs VIEWER.html OUTPUT.cpp: the page as src/draw/viewer.h declares it, cut where the tree goes.
import { readFileSync, writeFileSync } from 'node:fs';
import { literal } from './literal.mjs';

const [input, output] = process.argv.slice(2);
const parts = readFileSync(input, 'utf8').split(/\s*(\{\{\w+\}\})\s*/);
const places = parts.filter((_, i) => i % 2 === 1);
if (places.join() !== '{{title}},{{content}},{{tree}}') {
  throw new Error(`${input} has the places ${places.join()}: it should have {{title}},{{content}},{{tree}}`);
}
const [kBeforeTitle, kBeforeContent, kBeforeTree, kEnd] = parts
  .filter((_, i) => i % 2 === 0)
  .map((text) => Buffer.from(text));
const texts = { kBeforeTitle, kBeforeContent, kBeforeTree, kEnd };

writeFileSync(
  output,
  `// Made by web/scripts/embed_viewer.mjs.
#include "draw/viewer.h"

namespace dts::draw {
namespace {

// With their lengths: a compiler that counts them gives up on pages as long as these.
${Object.entries(texts)
  .map(([name, bytes]) => `constexpr char ${name}[] =\n${literal(bytes)};\n`)
  .join('')}
constexpr ViewerPage kPage = {
    .before_title = {kBeforeTitle, sizeof kBeforeTitle - 1},
    .before_content = {kBeforeContent, sizeof kBeforeContent - 1},
    .before_tree = {kBeforeTree, sizeof kBeforeTree - 1},
    .end = {kEnd, sizeof kEnd - 1}};

}  // namespace

const ViewerPage* viewer_page() { return &kPage; }

}  // namespace dts::draw
`,
);
