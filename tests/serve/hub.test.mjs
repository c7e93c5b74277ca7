// An unmodified client of OpenAI's API, against a server whose model comes from a hub on a loopback port.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import OpenAI from 'openai';
import { startServer } from './server.mjs';

const weights = readFileSync(new URL('../../models/nano/dts-nano.gguf', import.meta.url));
const commit = '0123456789abcdef0123456789abcdef01234567';
const repo = 'org/nano-GGUF';
const file = 'nano-Q8_0.gguf';

/** A hub with one model. Its first answer with the file breaks off in the middle. */
async function startHub() {
  const sha256 = createHash('sha256').update(weights).digest('hex');
  const facts = { id: repo, sha: commit, siblings: [{ rfilename: file, lfs: { sha256, size: weights.length } }] };
  const seen = { files: 0 };
  const server = createServer((request, response) => {
    if (request.url === `/api/models/${repo}/revision/main?blobs=true`) {
      response.end(JSON.stringify(facts));
      return;
    }
    if (request.url !== `/${repo}/resolve/${commit}/${file}`) {
      response.writeHead(404).end();
      return;
    }
    seen.files += 1;
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? 'bytes=0-')[1]);
    const range = { 'content-range': `bytes ${from}-${weights.length - 1}/${weights.length}` };
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': weights.length - from,
      ...(from > 0 ? range : {}),
    });
    if (seen.files > 1) response.end(weights.subarray(from));
    else response.write(weights.subarray(0, weights.length >> 1), () => response.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, seen, stop: () => server.close() };
}

test('dts serve -hf: the model is downloaded, resumed, and answers', async () => {
  const home = mkdtempSync(join(tmpdir(), 'dts-hub-'));
  const hub = await startHub();
  const environment = { HF_ENDPOINT: hub.url, HF_HOME: home, HF_HUB_CACHE: join(home, 'hub'), HF_TOKEN: '', DTS_CONFIG: '/dev/null' };
  try {
    for (const [offline, requests] of [['0', 2], ['1', 2]]) {
      const server = await startServer(process.env.DTS_PROGRAM, ['-hf', `${repo}:Q8_0`], {
        ...environment,
        HF_HUB_OFFLINE: offline,
      });
      try {
        assert.equal(hub.seen.files, requests, 'once from the beginning, once from where it broke off, then never again');
        const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'unused', maxRetries: 0 });
        const [{ id: model }] = (await client.models.list()).data;
        assert.equal(model, 'nano-Q8_0');
        const reply = await client.chat.completions.create({
          model,
          messages: [{ role: 'user', content: 'Find the value of (66 - 36) x 8 - 14 + 86.' }],
          seed: 1,
        });
        assert.match(reply.choices[0].message.content, /boxed\{312\}/);
      } finally {
        assert.equal(await server.stop(), 0);
      }
    }
  } finally {
    hub.stop();
    rmSync(home, { recursive: true });
  }
});
