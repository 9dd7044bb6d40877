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
