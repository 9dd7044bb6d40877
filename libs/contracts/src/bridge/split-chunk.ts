import { CHUNK_MAX_BYTES, encodeJson, type RawJson } from '@berth/domain';
import { readLenient, textOf } from './lenient-json.js';

/** `metrics` is repeated in every piece, so a larger one would eat the room for the output. */
const METRICS_MAX_BYTES = 64 * 1024;
/** `,"part":{"index":…,"count":…}` and the member names around the piece. */
const FRAME_BYTES = 200;
/** A piece grows when it is written as a JSON string; its first guess leaves room for some escapes. */
const FIRST_GUESS = 0.9;

const MEMBERS = new Set(['output', 'metrics']);
const NO_METRICS = '{}' as RawJson;

/**
 * The chunks that one body posted to `job-stream` becomes. Up to the limit it stays as it came; above it a string is
 * split into strings, and any other value into pieces of its JSON text that name their place (API decisions 2.12).
 */
export const splitChunk = (text: string, maxBytes: number = CHUNK_MAX_BYTES): readonly RawJson[] =>
  splitChunkBytes(Buffer.from(text, 'utf8'), maxBytes);

/** The same of bytes as they came. */
export function splitChunkBytes(body: Uint8Array, maxBytes: number = CHUNK_MAX_BYTES): readonly RawJson[] {
  const reading = readLenient(body, MEMBERS);
  // A text that no reader of JSON would take is kept as a string.
  if (reading.kind !== 'json') return splitOutput(encodeJson(textOf(body)), NO_METRICS, maxBytes);
  const { utf8, members } = reading.json;
  if (members === null) return splitOutput(rawJson(utf8), NO_METRICS, maxBytes);
  if (utf8.byteLength <= maxBytes) return [rawJson(utf8)];
  const output = members.get('output');
  const metrics = members.get('metrics');
  const isKept = metrics !== undefined && metrics.byteLength <= METRICS_MAX_BYTES;
  const outputText = output === undefined ? ('null' as RawJson) : rawJson(output);
  return splitOutput(outputText, isKept ? rawJson(metrics) : NO_METRICS, maxBytes);
}

const rawJson = (utf8: Uint8Array): RawJson => textOf(utf8) as RawJson;

function splitOutput(output: RawJson, metrics: RawJson, maxBytes: number): readonly RawJson[] {
  const whole = `{"output":${output},"metrics":${metrics}}` as RawJson;
  if (Buffer.byteLength(whole, 'utf8') <= maxBytes) return [whole];
  const isString = output.startsWith('"');
  const text = isString ? (JSON.parse(output) as string) : output;
  const pieces = splitText(text, maxBytes - FRAME_BYTES - Buffer.byteLength(metrics, 'utf8'));
  return pieces.map((piece, index) => {
    const part = isString ? '' : `"part":{"index":${index},"count":${pieces.length}},`;
    return `{"output":${piece},${part}"metrics":${metrics}}` as RawJson;
  });
}

/** JSON strings of at most `maxBytes` whose values make up `text`. No surrogate pair is torn. */
function splitText(text: string, maxBytes: number): readonly RawJson[] {
  const pieces: RawJson[] = [];
  for (let at = 0; at < text.length;) {
    let length = Math.min(text.length - at, Math.max(2, Math.floor(maxBytes * FIRST_GUESS)));
    let end = boundaryBefore(text, at + length);
    let piece = encodeJson(text.slice(at, end));
    for (let bytes = Buffer.byteLength(piece); bytes > maxBytes && length > 2; bytes = Buffer.byteLength(piece)) {
      length = Math.max(2, Math.floor((length * maxBytes * FIRST_GUESS) / bytes));
      end = boundaryBefore(text, at + length);
      piece = encodeJson(text.slice(at, end));
    }
    pieces.push(piece);
    at = end;
  }
  return pieces;
}

/** Not between the two halves of a surrogate pair. */
function boundaryBefore(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  const isHighHalf = end < text.length && code >= 0xd800 && code <= 0xdbff;
  return isHighHalf ? end - 1 : end;
}
