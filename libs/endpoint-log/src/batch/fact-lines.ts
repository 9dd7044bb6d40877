import { readJson } from '@berth/contracts';
import { integer, objectOf, readShape, text } from '@berth/domain/shape';
import { encodeJson, type LogFact } from '@berth/domain';

const LINE_END = '\n';
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export const encodeFact = (fact: LogFact): string => encodeJson(fact);

/** Bytes that a line takes in a batch. */
export const lineBytes = (line: string): number => Buffer.byteLength(line) + LINE_END.length;

export const encodeLines = (lines: readonly string[]): Uint8Array => encoder.encode(lines.join(LINE_END));

/**
 * The facts of a batch. The content of each is judged where it is applied; here only that they are facts at all.
 *
 * @throws SyntaxError when a line is none: the batch was not written by an owner, or has been harmed
 */
export function decodeLines(facts: Uint8Array): readonly LogFact[] {
  const lines = decoder.decode(facts).split(LINE_END);
  return lines.map((line, at) => {
    const fact = decodeFact(line);
    // Nothing of the line: it may hold a secret, and this ends in logs.
    if (fact === null) throw new SyntaxError(`line ${at + 1} is no fact`);
    return fact;
  });
}

/** One line of a batch, whatever it is. */
export interface FactLine {
  /** From 1. */
  readonly number: number;
  readonly bytes: number;
  /** Null: it is no fact. */
  readonly fact: LogFact | null;
}

/** The lines of a batch, each by itself: where one is no fact, the others can be told all the same. */
export function readLines(facts: Uint8Array): readonly FactLine[] {
  const lines: FactLine[] = [];
  for (let start = 0; start <= facts.length;) {
    const found = facts.indexOf(LINE_END.charCodeAt(0), start);
    const end = found < 0 ? facts.length : found;
    lines.push({ number: lines.length + 1, bytes: end - start, fact: readFact(facts.subarray(start, end)) });
    start = end + 1;
  }
  return lines;
}

function readFact(line: Uint8Array): LogFact | null {
  const text = textOf(line);
  return text === null ? null : decodeFact(text);
}

/** Null: it is no UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** The members that every fact has; the others of each kind are judged where it is applied. */
const FACT = objectOf<Pick<LogFact, 'kind' | 'atMs'>>({
  kind: text(),
  atMs: integer(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
});

function decodeFact(line: string): LogFact | null {
  const json = readJson(line);
  if (json.kind === 'unreadable') return null;
  const reading = readShape<LogFact>(FACT, json.value);
  return reading.kind === 'unreadable' ? null : reading.value;
}
