import { encodeJson, type LogFact } from '@berth/domain';

const LINE_END = '\n';
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export const encodeFact = (fact: LogFact): string => encodeJson(fact);

/** Bytes that a line takes in a batch. */
export const lineBytes = (line: string): number => Buffer.byteLength(line) + LINE_END.length;

export const encodeLines = (lines: readonly string[]): Uint8Array => encoder.encode(lines.join(LINE_END));

/**
 * The facts of a batch. What each says is judged where it is applied; here only that they are facts at all.
 *
 * @throws SyntaxError when a line is none: the batch was not written by an owner, or has been harmed
 */
export function decodeLines(facts: Uint8Array): readonly LogFact[] {
  return decoder.decode(facts).split(LINE_END).map(decodeFact);
}

function decodeFact(line: string): LogFact {
  const fact = JSON.parse(line) as Partial<LogFact> | null;
  const isFact = typeof fact === 'object' && typeof fact?.kind === 'string' && Number.isSafeInteger(fact.atMs);
  if (!isFact) throw new SyntaxError(`no fact: ${line.slice(0, 100)}`);
  return fact as LogFact;
}
