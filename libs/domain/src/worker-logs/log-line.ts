/** `container`: what it printed. `system`: what its agent, or the control plane, says of it. */
export const LOG_SOURCES = ['container', 'system'] as const;
export type LineSource = (typeof LOG_SOURCES)[number];

/** UTF-16 code units of one line; what is longer is cut, and marked as cut. */
export const LOG_LINE_CHARACTERS_MAX = 8_192;

/** One line of a worker's log. */
export interface LogLine {
  /** Grows by one with each line of the worker, from 1 on, whatever its source. */
  readonly sequence: number;
  /** Unix ms, by the host's clock: when it was printed where the runtime knows that, else when it was read. */
  readonly atMs: number;
  readonly source: LineSource;
  /** Clean text without an end of line. */
  readonly line: string;
  /** The job that it is about; absent where that is not known. */
  readonly jobId?: string;
}
