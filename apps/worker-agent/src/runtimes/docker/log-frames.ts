import type { Container } from 'dockerode';
import { PRINTED_LINES_MAX } from '../container-runtime.port.js';
import { askUnless } from './ask-engine.js';

const HEADER_BYTES = 8;
const SIZE_OFFSET = 4;

/** The text of the engine's log frames: each is a header (stream, three zeros, size in 4 bytes) and its bytes. */
export function textOfFrames(frames: Buffer): string {
  const parts: Buffer[] = [];
  let at = 0;
  while (at + HEADER_BYTES <= frames.length) {
    const end = at + HEADER_BYTES + frames.readUInt32BE(at + SIZE_OFFSET);
    parts.push(frames.subarray(at + HEADER_BYTES, end));
    at = end;
  }
  return Buffer.concat(parts).toString();
}

/** The last lines, at most `PRINTED_LINES_MAX`, that the container printed, oldest first; none where it was removed meanwhile. */
export async function lastLines(container: Container, lines: number): Promise<readonly string[]> {
  const tail = Math.min(lines, PRINTED_LINES_MAX);
  if (tail === 0) return [];
  const options = { stdout: true, stderr: true, tail, follow: false } as const;
  const frames = await askUnless([404], 'The log of a container cannot be read', () => container.logs(options));
  const all = textOfFrames(frames ?? Buffer.alloc(0)).split('\n');
  if (all.at(-1) === '') all.pop();
  return all.slice(-tail);
}
