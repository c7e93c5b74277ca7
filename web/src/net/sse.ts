/** text/event-stream, read by fetch: EventSource can send neither an API key nor the number to resume from. */

export interface ServerEvent {
  id: string; // the last one told, '' before the first
  type: string;
  data: string;
}

/** Takes the stream in pieces of any size and gives whole events. */
export class SseParser {
  #rest = '';
  #id = '';
  #type = '';
  #data: string[] = [];

  push(chunk: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    // A carriage return at the end may be half of a line's end.
    const text = this.#rest + chunk;
    const usable = text.endsWith('\r') ? text.length - 1 : text.length;
    let start = 0;
    const lineEnd = /\r\n|\n|\r/g;
    for (let match = lineEnd.exec(text); match !== null && match.index < usable; match = lineEnd.exec(text)) {
      this.#line(text.slice(start, match.index), events);
      start = match.index + match[0].length;
    }
    this.#rest = text.slice(start);
    return events;
  }

  #line(line: string, events: ServerEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) {
        events.push({ id: this.#id, type: this.#type || 'message', data: this.#data.join('\n') });
      }
      this.#type = '';
      this.#data = [];
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment: the server is alive
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#type = value;
    else if (field === 'id') this.#id = value;
  }
}

/**
 * The events of a response, until it ends. Throws what reading the body throws. `onRead` is called whenever something
 * comes, be it a comment.
 */
export async function* serverEvents(
  response: Response,
  onRead: () => void = () => undefined,
): AsyncGenerator<ServerEvent[]> {
  if (response.body === null) return;
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onRead();
      const events = parser.push(decoder.decode(value, { stream: true }));
      if (events.length > 0) yield events;
    }
  } finally {
    void reader.cancel().catch(() => undefined); // already broken: nothing to tell
  }
}
