import { systemClock } from '@berth/lifecycle';
import type { StreamReading } from '@berth/testing/checker';
import type { ApiCaller } from './api-caller.js';

type ReadChunk = StreamReading['chunks'][number];

/** Longer than the pause between two pings. */
const SILENCE_MS = 40_000;
const AGAIN_MS = 300;

/**
 * Reads the events of one stream to its end. Whenever the line breaks it goes on behind the last event that it had;
 * when another attempt begins it drops what it has.
 */
export class EventReader {
  readonly #api: ApiCaller;
  readonly #jobId: string;
  #chunks: ReadChunk[] = [];
  #lastEventId: string | null = null;
  #isOver = false;

  constructor(api: ApiCaller, jobId: string) {
    this.#api = api;
    this.#jobId = jobId;
  }

  get chunks(): readonly ReadChunk[] {
    return this.#chunks;
  }

  /** @param breakOff tells after each event whether the reader shall hang up and come again */
  async read(breakOff: () => boolean): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#readOnce(breakOff);
      } catch {
        // The router died or stands still: that is what resuming is for.
      }
      if (!this.#isOver) await systemClock.sleep(AGAIN_MS);
    }
  }

  async #readOnce(breakOff: () => boolean): Promise<void> {
    const resume = this.#lastEventId === null ? {} : { 'last-event-id': this.#lastEventId };
    const headers = { accept: 'text/event-stream', ...resume };
    const { body, statusCode } = await this.#api.open('GET', `/stream/${this.#jobId}`, {
      headers,
      silenceMs: SILENCE_MS,
    });
    // Gone: nobody will ever stream it again.
    this.#isOver = statusCode === 404;
    if (statusCode !== 200) return void (await body.dump());
    let text = '';
    for await (const piece of body) {
      text += String(piece);
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) this.#take(event);
      if (this.#isOver || breakOff()) return;
    }
  }

  #take(event: string): void {
    const fields = new Map(event.split('\n').map((line) => splitField(line)));
    const id = fields.get('id');
    if (id !== undefined) this.#lastEventId = id;
    const kind = fields.get('event');
    const data = fields.get('data');
    if (kind === 'attempt') this.#chunks = [];
    else if (kind === 'status') this.#isOver = true;
    else if (kind === undefined && data !== undefined)
      this.#chunks.push((JSON.parse(data) as { output: ReadChunk }).output);
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}
