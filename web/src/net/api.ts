/** The server's API (docs/server.md), with errors in words. */
import { asArray, asObject, asString, asText, asTextOrNull, isObject, parseJson, type Json } from '../model/json';

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number, // 0: the server could not be reached
    readonly retryAfter: number | null = null, // seconds
  ) {
    super(message);
  }
}

export interface TreeListing {
  id: string;
  created: number;
  model: string;
  method: string;
  question: string;
  state: string;
  answer: string | null;
}

const kKeyName = 'dts-api-key';

/** What a person can do about each status; the server's own words follow. */
function inWords(status: number, retryAfter: number | null, detail: string): string {
  const said = detail === '' ? '' : ` ${detail}`;
  if (status === 401) return 'The server asks for an API key.';
  if (status === 403) return `The server refuses this.${said}`;
  if (status === 404) return `The server does not have this.${said}`;
  if (status === 413) return `The question is longer than the server accepts.${said}`;
  if (status === 429) {
    const wait = retryAfter === null ? 'Try again in a moment.' : `Try again in ${retryAfter} s.`;
    return `The server is busy with other questions. ${wait}`;
  }
  if (status === 503) return `The server cannot take questions now.${said}`;
  if (status >= 500) return `The server failed.${said}`;
  return detail === '' ? `The server refuses the request (${status}).` : `The server refuses the request: ${detail}`;
}

async function errorOf(response: Response): Promise<ApiError> {
  const body = parseJson(await response.text().catch(() => ''));
  const detail = asString(asObject(asObject(body).error).message);
  const seconds = Number(response.headers.get('Retry-After') ?? NaN);
  const retryAfter = Number.isFinite(seconds) ? seconds : null;
  return new ApiError(inWords(response.status, retryAfter, detail), response.status, retryAfter);
}

export class Api {
  /** Called when the server answers 401: asks for a key. */
  onKeyNeeded: (hadKey: boolean) => void = () => undefined;

  get key(): string {
    return sessionStorage.getItem(kKeyName) ?? '';
  }

  set key(value: string) {
    if (value === '') sessionStorage.removeItem(kKeyName);
    else sessionStorage.setItem(kKeyName, value);
  }

  /** Throws ApiError; an abort stays an AbortError. */
  async fetch(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    const headers: Record<string, string> = { ...init.headers };
    if (this.key !== '') headers.Authorization = `Bearer ${this.key}`;
    let response: Response;
    try {
      response = await fetch(path, { ...init, headers, cache: 'no-store', credentials: 'same-origin' });
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      throw new ApiError('The server cannot be reached.', 0);
    }
    if (response.ok) return response;
    if (response.status === 401) this.onKeyNeeded(this.key !== '');
    throw await errorOf(response);
  }

  async #json(path: string, init?: RequestInit & { headers?: Record<string, string> }): Promise<Json> {
    const body = parseJson(await (await this.fetch(path, init)).text());
    if (!isObject(body)) throw new ApiError(`The server's answer to ${path} cannot be read.`, 0);
    return body;
  }

  async models(signal?: AbortSignal): Promise<Json[]> {
    const body = await this.#json('/v1/models', signal === undefined ? {} : { signal });
    return asArray(body.data).filter(isObject);
  }

  async trees(): Promise<TreeListing[]> {
    const body = await this.#json('/v1/trees');
    return asArray(body.data)
      .filter(isObject)
      .map((entry) => ({
        id: asString(entry.id),
        created: typeof entry.created === 'number' ? entry.created : NaN,
        model: asString(entry.model),
        method: asString(entry.method, asString(asObject(entry.method).name)),
        question: asText(entry.question),
        state: asString(entry.state),
        answer: asTextOrNull(entry.answer),
      }));
  }

  async tree(id: string): Promise<Json> {
    return this.#json(`/v1/trees/${encodeURIComponent(id)}`);
  }

  async cancel(id: string): Promise<void> {
    await this.fetch(`/v1/trees/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  events(id: string, lastEventId: number, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'text/event-stream' };
    if (lastEventId >= 0) headers['Last-Event-ID'] = String(lastEventId);
    return this.fetch(`/v1/trees/${encodeURIComponent(id)}/events`, { headers, signal });
  }

  /** Starts a run that goes on whoever leaves; gives its id. */
  async start(body: Json, signal: AbortSignal): Promise<string> {
    const reply = await this.#json('/v1/trees', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    const id = asString(reply.id);
    if (id === '') throw new ApiError("The server's answer names no run.", 0);
    return id;
  }
}
