/** Half a megabyte a second for as long as it takes, and eight at once: a traceback of any length, and no flood. */
const BYTES_PER_SECOND = 512 * 1_024;
const BYTES_MAX = 8 * 1_024 * 1_024;
/** Costs beside the text itself, so that empty lines are not free. */
const LINE_COST_BYTES = 64;
const SECOND_MS = 1_000;

/** What one worker may print now, in bytes. */
export interface LineAllowance {
  readonly bytes: number;
  readonly atMs: number;
}

export interface AdmittedLines<Line> {
  readonly admitted: readonly Line[];
  /** How many of the lines there is no room for. */
  readonly dropped: number;
  readonly allowance: LineAllowance;
}

/** A worker that has printed nothing yet. */
export const fullAllowance = (nowMs: number): LineAllowance => ({ bytes: BYTES_MAX, atMs: nowMs });

/**
 * The lines that are kept of what a worker printed: as many, from the first on, as its allowance pays for. What comes
 * after the first that is dropped is dropped too, so that one marker can say how many there were.
 *
 * @param nowMs by a clock that does not jump
 */
export function admitLines<Line extends { readonly text: string }>(
  lines: readonly Line[],
  { atMs, bytes }: LineAllowance,
  nowMs: number,
): AdmittedLines<Line> {
  const elapsedMs = Math.max(0, nowMs - atMs);
  let left = Math.min(BYTES_MAX, bytes + (elapsedMs / SECOND_MS) * BYTES_PER_SECOND);
  let count = 0;
  for (const { text } of lines) {
    const cost = text.length + LINE_COST_BYTES;
    if (cost > left) break;
    left -= cost;
    count += 1;
  }
  const dropped = lines.length - count;
  return { admitted: lines.slice(0, count), dropped, allowance: { bytes: left, atMs: nowMs } };
}
