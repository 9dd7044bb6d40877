import { Writable } from 'node:stream';

/** One line of the log, as it is written in JSON. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly requestId?: string;
  readonly [field: string]: unknown;
}

export const DEBUG = 20;
export const WARN = 40;
export const ERROR = 50;

/** A log that stays in memory. */
export class LogLines extends Writable {
  readonly #lines: LogLine[] = [];

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    for (const text of chunk.toString().split('\n')) {
      if (text !== '') this.#lines.push(JSON.parse(text) as LogLine);
    }
    done();
  }
}
