// node embed.mjs DIRECTORY OUTPUT.cpp: all files of DIRECTORY as src/serve/assets.h declares them.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { extname, join, posix } from 'node:path';
import { literal } from './literal.mjs';

const contentTypes = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** Paths of all files below `directory`, with slashes. */
function filesBelow(directory, prefix = '') {
  return readdirSync(join(directory, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(prefix, entry.name);
    return entry.isDirectory() ? filesBelow(directory, path) : [path];
  });
}

const [directory, output] = process.argv.slice(2);
const assets = filesBelow(directory)
  .sort()
  .map((path) => {
    const contentType = contentTypes[extname(path)];
    if (contentType === undefined) throw new Error(`${path}: no content type is known for ${extname(path)} files`);
    const bytes = readFileSync(join(directory, path));
    const etag = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    return { path: `/${path}`, contentType, bytes, etag };
  });

writeFileSync(
  output,
  `// Made by web/scripts/embed.mjs.
#include <array>

#include "serve/page/assets.h"

namespace dts::serve {
namespace {

${assets.map(({ bytes }, i) => `constexpr char kBytes${i}[] =\n${literal(bytes)};\n`).join('\n')}
constexpr std::array<Asset, ${assets.length}> kAssets = {{
${assets
  .map(
    ({ path, contentType, bytes, etag }, i) =>
      `    {"${path}", "${contentType}", {kBytes${i}, ${bytes.length}}, "\\"${etag}\\""},\n`,
  )
  .join('')}}};

}  // namespace

std::span<const Asset> page_assets() { return kAssets; }

}  // namespace dts::serve
`,
);
