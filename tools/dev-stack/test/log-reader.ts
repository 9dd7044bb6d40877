import { systemClock } from '@berth/lifecycle';
import type { DevFile } from '../src/dev-file.js';

/** What a reader of logs is told in one event. */
export interface ToldLine {
  /** Absent: the control plane itself says it. */
  readonly id?: string;
  readonly source: 'container' | 'system';
  readonly line: string;
  readonly jobId?: string;
}

const AGAIN_MS = 300;

/** Reads a log as it grows. Whenever the stream ends or breaks it goes on behind the last event that it had. */
export class LogReader {
  readonly told: ToldLine[] = [];
  readonly #dev: DevFile;
  readonly #path: string;
  readonly #leaving = new AbortController();
  #line = new AbortController();
  #lastEventId: string | undefined;
  /** Streams that it has opened. */
  opened = 0;

  constructor(dev: DevFile, path: string) {
    this.#dev = dev;
    this.#path = path;
    void this.#read();
  }

  /** What the worker printed, or what was said of it. */
  of(source: ToldLine['source']): readonly string[] {
    return this.told.filter((each) => each.source === source).map(({ line }) => line);
  }

  /** The numbers that the worker has counted aloud. */
  get counts(): readonly number[] {
    return this.of('container').flatMap((line) => (line.startsWith('count ') ? [Number(line.slice(6))] : []));
  }

  /** Hangs up and comes again. */
  hangUp(): void {
    this.#line.abort();
  }

  leave(): void {
    this.#leaving.abort();
  }

  async #read(): Promise<void> {
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      try {
        await this.#readOnce();
      } catch {
        // The line broke, as it may: what was told so far stands.
      }
      await systemClock.sleep(AGAIN_MS, signal);
    }
  }

  async #readOnce(): Promise<void> {
    this.#line = new AbortController();
    const resume = this.#lastEventId === undefined ? {} : { 'last-event-id': this.#lastEventId };
    const response = await fetch(`${this.#dev.baseUrl}${this.#path}`, {
      headers: { authorization: `Bearer ${this.#dev.apiKey}`, ...resume },
      signal: AbortSignal.any([this.#line.signal, this.#leaving.signal]),
    });
    if (!response.ok) throw new Error(`${String(response.status)} for ${this.#path}`);
    this.opened += 1;
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) this.#take(event);
    }
  }

  #take(event: string): void {
    const fieldOf = (name: string): string | undefined =>
      event
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const [data, id] = [fieldOf('data'), fieldOf('id')];
    if (data === undefined || fieldOf('event') !== undefined) return;
    this.#lastEventId = id ?? this.#lastEventId;
    this.told.push({ ...(JSON.parse(data) as ToldLine), ...(id === undefined ? {} : { id }) });
  }
}
