// node embed_viewer.mjs VIEWER.html OUTPUT.cpp: the page as src/draw/viewer.h declares it, cut where the tree goes.
import { readFileSync, writeFileSync } from 'node:fs';
import { literal } from './literal.mjs';

const [input, output] = process.argv.slice(2);
const parts = readFileSync(input, 'utf8').split(/\s*(\{\{\w+\}\})\s*/);
const places = parts.filter((_, i) => i % 2 === 1);
if (places.join() !== '{{title}},{{content}},{{tree}}') {
  throw new Error(`${input} has the places ${places.join()}: it should have {{title}},{{content}},{{tree}}`);
}
const [beforeTitle, beforeContent, beforeTree, end] = parts
  .filter((_, i) => i % 2 === 0)
  .map((text) => Buffer.from(text));

writeFileSync(
  output,
  `// Made by web/scripts/embed_viewer.mjs.
#include "draw/viewer.h"

namespace dts::draw {
namespace {

constexpr ViewerPage kPage = {
    .before_title =
${literal(beforeTitle)},
    .before_content =
${literal(beforeContent)},
    .before_tree =
${literal(beforeTree)},
    .end =
${literal(end)}};

}  // namespace

const ViewerPage* viewer_page() { return &kPage; }

}  // namespace dts::draw
`,
);
