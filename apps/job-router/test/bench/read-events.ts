/** An event as a reader of the HTML standard sees it. */
export interface SeenEvent {
  readonly event: string;
  readonly data: string;
  /** The last id until then; empty where there was none. */
  readonly id: string;
}

/** Reads server-sent events by the letter of the HTML standard, from bytes that are cut anywhere. */
class EventReader {
  readonly comments: string[] = [];
  retryMs: number | undefined;
  readonly #decoder = new TextDecoder();
  #buffer = '';
  #data: string[] = [];
  #event = '';
  #id = '';

  /** The events that are whole with these bytes. */
  push(bytes: Uint8Array): SeenEvent[] {
    this.#buffer += this.#decoder.decode(bytes, { stream: true });
    const seen: SeenEvent[] = [];
    for (let line = this.#nextLine(); line !== null; line = this.#nextLine()) {
      const event = this.#take(line);
      if (event !== null) seen.push(event);
    }
    return seen;
  }

  /** A carriage return at the end of what is there may be the first half of a line end. */
  #nextLine(): string | null {
    const found = /\r\n|\n|\r(?!$)/.exec(this.#buffer);
    if (found === null) return null;
    const line = this.#buffer.slice(0, found.index);
    this.#buffer = this.#buffer.slice(found.index + found[0].length);
    return line;
  }

  #take(line: string): SeenEvent | null {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) {
      this.comments.push(line.slice(1).trim());
      return null;
    }
    const [, name = '', value = ''] = /^([^:]*)(?::\u0020?(.*))?$/su.exec(line) ?? [];
    if (name === 'data') this.#data.push(value);
    if (name === 'event') this.#event = value;
    if (name === 'id') this.#id = value;
    if (name === 'retry') this.retryMs = Number(value);
    return null;
  }

  #dispatch(): SeenEvent | null {
    const [data, event] = [this.#data, this.#event];
    this.#data = [];
    this.#event = '';
    return data.length === 0 ? null : { event: event === '' ? 'message' : event, data: data.join('\n'), id: this.#id };
  }
}

export function readEvents(pieces: readonly Uint8Array[]): SeenEvent[] {
  const reader = new EventReader();
  return pieces.flatMap((piece) => reader.push(piece));
}

/** Reads the events of one answer as they come. */
export class EventSourceReader {
  readonly status: number;
  readonly headers: Headers;
  readonly #response: Response;
  readonly #events = new EventReader();

  private constructor(response: Response) {
    this.#response = response;
    this.status = response.status;
    this.headers = response.headers;
  }

  static async open(url: string, init: RequestInit): Promise<EventSourceReader> {
    return new EventSourceReader(await fetch(url, init));
  }

  get comments(): readonly string[] {
    return this.#events.comments;
  }

  get retryMs(): number | undefined {
    return this.#events.retryMs;
  }

  /** Until the answer ends, which it must do in order; leaving the loop closes the connection. */
  async *events(): AsyncGenerator<SeenEvent> {
    if (this.#response.body === null) return;
    for await (const bytes of this.#response.body) yield* this.#events.push(bytes as Uint8Array);
  }

  async all(): Promise<SeenEvent[]> {
    const seen: SeenEvent[] = [];
    for await (const event of this.events()) seen.push(event);
    return seen;
  }

  async take(count: number): Promise<SeenEvent[]> {
    const seen: SeenEvent[] = [];
    for await (const event of this.events()) {
      seen.push(event);
      if (seen.length === count) break;
    }
    return seen;
  }
}
