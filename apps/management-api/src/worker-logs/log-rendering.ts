import { formatLogPlace, type LogLine, type WorkerId } from '@berth/domain';
import { encodeEvent } from '@berth/http';
import type { LogEvent } from './log-event.js';

/** Workers that the id of an event can name. */
const PLACES_MAX = 64;

/**
 * Events of logs as server-sent events (wire contract 5.4). In the log of an endpoint each says whose it is, and its id
 * where the reader stands in the log of each worker.
 */
export class LogRendering {
  readonly #places: Map<string, number> | null;

  /** @param places where a reader of several logs stands; null: it reads one */
  constructor(places: ReadonlyMap<string, number> | null) {
    this.#places = places === null ? null : new Map(places);
  }

  render(event: LogEvent, nowMs: number): string {
    switch (event.kind) {
      case 'line':
        return this.#line(event.workerId, event.line);
      case 'read':
        this.#note(event.workerId, event.sequence);
        return '';
      case 'note':
        return encodeEvent({ data: this.#data(event.workerId, { atMs: nowMs, source: 'system', line: event.text }) });
      case 'over':
        return encodeEvent({ event: 'end', data: '{}' });
      default:
        return event satisfies never;
    }
  }

  #line(workerId: WorkerId, line: LogLine): string {
    this.#note(workerId, line.sequence);
    const id = formatLogPlace(line.atMs, { sequence: line.sequence, workers: this.#places });
    return encodeEvent({ id, data: this.#data(workerId, line) });
  }

  #data(workerId: WorkerId | null, { atMs, jobId, line, source }: Omit<LogLine, 'sequence'>): string {
    const told = { ts: new Date(atMs).toISOString(), source, line };
    if (this.#places === null) return JSON.stringify(told);
    return JSON.stringify({
      ...told,
      ...(workerId === null ? {} : { workerId }),
      ...(jobId === undefined ? {} : { jobId }),
    });
  }

  /** The one that was told longest ago makes room. */
  #note(workerId: WorkerId, sequence: number): void {
    if (this.#places === null) return;
    this.#places.delete(workerId);
    this.#places.set(workerId, sequence);
    const [oldest] = this.#places.keys();
    if (this.#places.size > PLACES_MAX && oldest !== undefined) this.#places.delete(oldest);
  }
}
