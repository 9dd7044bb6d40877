import { JSON_DEPTH_MAX, PlatformError, encodeJson, scanJson, type JsonScan, type RawJson } from '@berth/domain';

/**
 * JSON text built from parts that are JSON text already, so that an output leaves exactly as its worker sent it:
 * parsing and writing it again would round numbers and reorder keys (API decisions 2.11).
 */
export function objectText(members: Iterable<readonly [name: string, value: RawJson]>): RawJson {
  const parts: string[] = [];
  for (const [name, value] of members) parts.push(`${encodeJson(name)}:${value}`);
  return `{${parts.join(',')}}` as RawJson;
}

export const arrayText = (items: readonly RawJson[]): RawJson => `[${items.join(',')}]` as RawJson;

/** Up to here the parser is quickest, and what it makes is small. */
const PARSED_MAX_CHARACTERS = 64 * 1024;
const NONE: ReadonlySet<string> = new Set();
const encoder = new TextEncoder();

/**
 * Whether the text is a JSON object, or another JSON value. Of a large one nothing is made: millions of tiny values would
 * take hundreds of times its size.
 *
 * @throws PlatformError `body-not-json`; `invalid-job-request` of more levels than anybody reads
 */
export function jsonKindOf(body: string): 'object' | 'other' {
  const kind = body.length > PARSED_MAX_CHARACTERS ? scannedKindOf(body) : parsedKindOf(body);
  // No cause: what the parser says quotes the body, which may hold secrets.
  if (kind === 'not-json') throw new PlatformError('body-not-json', 'The body is not valid JSON.');
  if (kind === 'too-deep') {
    const detail = `The body is nested more than ${JSON_DEPTH_MAX} levels deep.`;
    throw new PlatformError('invalid-job-request', detail, { errors: [detail] });
  }
  return kind;
}

function scannedKindOf(body: string): JsonScan['kind'] {
  const scan = scanJson(encoder.encode(body), NONE);
  // The scan takes what Python writes for numbers that are none; callers' bodies may not have them.
  return 'nonNumbers' in scan && scan.nonNumbers > 0 ? 'not-json' : scan.kind;
}

function parsedKindOf(body: string): JsonScan['kind'] {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? 'object' : 'other';
  } catch {
    return 'not-json';
  }
}
