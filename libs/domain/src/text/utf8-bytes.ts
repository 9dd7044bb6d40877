const SURROGATE_FIRST = 0xd800;
const SURROGATE_LAST = 0xdfff;

/** Bytes of the text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each half of a pair is counted by itself: two bytes of the four.
    bytes += unit < 0x800 || (unit >= SURROGATE_FIRST && unit <= SURROGATE_LAST) ? 1 : 2;
  }
  return bytes;
}
