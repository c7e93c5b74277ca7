/**
 * A small server with OpenAI's completions API that was written for nobody: no token ids, no usage, fields that nobody
 * asked for, comments between events, lines that end with CR LF and arrive in pieces. Its "model" continues any text,
 * as a function of the text alone.
 */
import { createServer } from 'node:http';

const words = [' one', ' two', ' three', ' four', ' five', ' six', '\u00e9', ' \u{1F333}', '.', '\n'];

/** Log-probabilities of what follows `text`: of the words, and last of the end. */
function follow(text) {
  let state = 2166136261;
  for (const byte of Buffer.from(text)) state = Math.imul(state ^ byte, 16777619) >>> 0;
  const next = () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) >>> 0;
    return state / 2 ** 32;
  };
  const sharp = 1 + 8 * next();
  const logits = words.map(() => sharp * next());
  logits.push(text.length > 60 ? 9 : -3);
  const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
  return logits.map((logit) => logit - Math.log(sum));
}

/** Continues `prompt`: the tokens with their log-probabilities, and why it ended. */
function complete(prompt, most) {
  const tokens = [];
  let text = prompt;
  while (tokens.length < most) {
    const logprobs = follow(text);
    const best = logprobs.indexOf(Math.max(...logprobs));
    if (best === words.length) return { tokens, why: 'stop' };
    tokens.push({ text: words[best], logprob: logprobs[best], logprobs });
    text += words[best];
  }
  return { tokens, why: 'length' };
}

function lists(tokens, n) {
  return {
    tokens: tokens.map((token) => token.text),
    token_logprobs: tokens.map((token) => token.logprob),
    top_logprobs: tokens.map((token) => {
      const ranked = token.logprobs.map((logprob, i) => [words[i] ?? '', logprob]);
      ranked.sort((a, b) => b[1] - a[1]);
      return Object.fromEntries(ranked.slice(0, n));
    }),
    text_offset: tokens.map(() => 0),
  };
}

/** As the API of chats has it. */
function entries(tokens, n) {
  const entry = (text, logprob) => ({ token: text, logprob, bytes: [...Buffer.from(text)] });
  return {
    content: tokens.map((token) => {
      const ranked = token.logprobs.map((logprob, i) => entry(words[i] ?? '', logprob));
      ranked.sort((a, b) => b.logprob - a.logprob);
      return { ...entry(token.text, token.logprob), top_logprobs: ranked.slice(0, n) };
    }),
  };
}

/**
 * options: chunk: tokens an event; logprobs: 'lists', 'entries' or 'none'; stream: false answers at once whatever is
 * asked; key: what requests must carry; diesAt: requests until the process is as good as dead.
 */
export async function startPlainServer(options = {}) {
  const { chunk = 1, logprobs = 'lists', stream = true, key } = options;
  const seen = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    seen.push({ url: request.url, authorization: request.headers.authorization, body });
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
      response.writeHead(401, { 'Content-Type': 'application/json' });
      return response.end(JSON.stringify({ error: { message: 'no such key', type: 'auth' } }));
    }
    if (request.url === '/v1/models') {
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'plain', object: 'model', owned_by: 'nobody' }] }));
    }
    if (request.url !== '/v1/completions') {
      response.writeHead(404);
      return response.end('nothing here');
    }
    const asked = JSON.parse(body);
    const { tokens, why } = complete(asked.prompt, asked.max_tokens);
    const told = (some) => {
      if (!(asked.logprobs > 0) || logprobs === 'none') return null;
      return logprobs === 'lists' ? lists(some, asked.logprobs) : entries(some, asked.logprobs);
    };
    const event = (some, finish) => ({
      id: 'x',
      system_fingerprint: 'fp',
      provider: { name: 'nobody', region: null },
      choices: [
        {
          index: 0,
          text: some.map((token) => token.text).join(''),
          logprobs: some.length === 0 ? null : told(some),
          finish_reason: finish,
          native_finish_reason: finish,
        },
      ],
    });
    if (!stream || !asked.stream) return response.end(JSON.stringify(event(tokens, why)));
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    let text = ': hello\r\n\r\n';
    for (let at = 0; at < tokens.length; at += chunk) {
      text += `event: message\r\ndata: ${JSON.stringify(event(tokens.slice(at, at + chunk), null))}\r\n\r\n`;
      text += ': still here\r\n\r\n';
    }
    text += `data: ${JSON.stringify(event([], why))}\r\n\r\ndata: [DONE]\r\n\r\n`;
    // Cut inside lines and inside characters.
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length && !response.destroyed; at += 97) {
      response.write(bytes.subarray(at, at + 97));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    complete,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
