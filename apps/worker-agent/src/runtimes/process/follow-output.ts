import type { Clock } from '@berth/lifecycle';
import type { PrintedBatch, PrintedLine } from '../container-runtime.port.js';
import { stateOf, type WorkerFolder } from './worker-folder.js';

export interface FollowOutputOptions {
  readonly folder: WorkerFolder;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const POLL_MS = 100;
/** Of one batch, and of one line: a longer one comes in pieces. */
const READ_BYTES = 64 * 1_024;
const NEW_LINE = 10;

/** Where a reader stands in what one container has printed, files that were rotated away included. */
interface OutputPosition {
  readonly containerId: string;
  readonly offset: number;
}

/** Reads a worker's output from an offset on, as it grows, until the worker has ended. */
export async function* followOutput(
  from: string | null,
  { clock, folder, signal }: FollowOutputOptions,
): AsyncGenerator<PrintedBatch> {
  const file = await folder.labels();
  if (file === null) return;
  const { containerId } = file;
  let offset = offsetIn(from, containerId);
  while (!signal.aborted) {
    // Before the look at the file: what it wrote last is there by then.
    const isOver = (await stateOf(folder)).kind === 'ended';
    if ((await folder.labels())?.containerId !== containerId) return;
    const { bytes, start } = await folder.readOutput(offset, READ_BYTES);
    const isGap = start > offset;
    const length = wholeLines(bytes, isOver);
    if (length === 0 && isOver) return;
    if (length === 0 && !isGap) {
      await clock.sleep(POLL_MS, signal);
      continue;
    }
    offset = start + length;
    yield { lines: linesOf(bytes.subarray(0, length)), position: `${containerId} ${String(offset)}`, isGap };
  }
}

function offsetIn(from: string | null, containerId: string): number {
  const [id, offset] = (from ?? '').split(' ');
  const position: OutputPosition | null = id === containerId ? { containerId, offset: Number(offset) } : null;
  return position !== null && Number.isSafeInteger(position.offset) ? position.offset : 0;
}

/** How much of it can be told now: up to the last end of a line, or all where no more comes or would be read at once. */
function wholeLines(bytes: Buffer, isOver: boolean): number {
  const end = bytes.lastIndexOf(NEW_LINE) + 1;
  if (end > 0) return end;
  if (bytes.length >= READ_BYTES) return withoutHalfCharacter(bytes);
  return isOver ? bytes.length : 0;
}

/** A cut must not fall into a character: continuation bytes of UTF-8 begin with the bits 10. */
function withoutHalfCharacter(bytes: Buffer): number {
  const CONTINUATION = 0b1000_0000;
  const TOP_BITS = 0b1100_0000;
  let end = bytes.length - 1;
  const least = end - 3;
  while (end > least && ((bytes[end] ?? 0) & TOP_BITS) === CONTINUATION) end -= 1;
  return end;
}

function linesOf(bytes: Buffer): readonly PrintedLine[] {
  const texts = bytes.toString().split('\n');
  if (texts.at(-1) === '') texts.pop();
  return texts.map((text) => ({ atMs: null, text }));
}
