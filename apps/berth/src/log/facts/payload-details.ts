import type { JobBody, Payload } from '@berth/domain';
import { bytesText, countText } from '../formats/amounts.js';

/** One thing that a fact says: for programs by its name, for people as a few words. */
export interface Detail {
  readonly name: string;
  readonly value: string | number | boolean | null;
  readonly text: string;
  /** It is long, and stands on a line of its own. */
  readonly isLong?: true;
}

/** Texts of tenants and workers are told by their size, and as they are only where the reader wants them. */
export interface PayloadChoice {
  readonly hasPayloads: boolean;
}

const bytesOf = (text: string): number => Buffer.byteLength(text);
/** JSON of an object without members. */
const EMPTY_BYTES = 2;

export function payloadDetails(name: string, payload: Payload | null, { hasPayloads }: PayloadChoice): Detail[] {
  if (payload === null) return [];
  switch (payload.kind) {
    case 'inline': {
      const bytes = bytesOf(payload.json);
      return [sizeDetail(name, bytes), ...(hasPayloads ? [textDetail(name, payload.json)] : [])];
    }
    case 'blob': {
      const { parts, sizeBytes } = payload.manifest;
      const where: Detail = {
        name: `${name}BlobParts`,
        value: parts,
        text: `beside the log in ${countText(parts, 'part')}`,
      };
      return [sizeDetail(name, sizeBytes), where];
    }
    default:
      return payload satisfies never;
  }
}

/** A sealed member is told by its size, whatever the reader wants. */
export function bodyDetails({ extras, input, sealedExtras }: JobBody, choice: PayloadChoice): Detail[] {
  const extrasBytes = bytesOf(extras);
  return [
    ...payloadDetails('input', input, choice),
    ...(extrasBytes > EMPTY_BYTES ? wordsDetails('extras', extras, choice) : []),
    ...(sealedExtras === null ? [] : [sizeDetail('sealed', bytesOf(sealedExtras))]),
  ];
}

/** Words of a worker or a tenant. Null: there are none. */
export function wordsDetails(name: string, words: string | null, { hasPayloads }: PayloadChoice): Detail[] {
  if (words === null) return [];
  return [sizeDetail(name, bytesOf(words)), ...(hasPayloads ? [textDetail(name, words)] : [])];
}

export function logTailDetails(lines: readonly string[], choice: PayloadChoice): Detail[] {
  return lines.length === 0 ? [] : wordsDetails('logTail', lines.join('\n'), choice);
}

const WORDS: Readonly<Record<string, string>> = { logTail: 'log tail' };

const sizeDetail = (name: string, bytes: number): Detail => ({
  name: `${name}Bytes`,
  value: bytes,
  text: `${WORDS[name] ?? name} ${bytesText(bytes)}`,
});

const textDetail = (name: string, text: string): Detail => ({
  ...{ name: `${name}Text`, value: text, isLong: true },
  text: `${WORDS[name] ?? name}: ${text}`,
});
