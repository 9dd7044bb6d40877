import { isPortTaken } from './startup-error.js';

/** The text that a process prints when it refuses to start for a reason that the operator can mend. */
export const refusalText = (name: string, reason: Error): string => `${name}: ${reason.message}\n`;

export interface Refusal {
  /** The process's own sentence, its name included. */
  readonly text: string;
  /** The same start may succeed a moment later. */
  readonly mayPass: boolean;
}

/**
 * The refusal in what a process printed before it ended with code 1, for who started it; null where it says of no
 * setting that it is wrong. Its log lines must be JSON, among which the sentence stands out.
 */
export function findRefusal(printed: string, name: string): Refusal | null {
  const lines = printed.split('\n');
  const first = lines.findLastIndex((line) => line.startsWith(`${name}: `));
  if (first === -1) return null;
  const rest = lines.slice(first);
  const end = rest.findIndex((line) => line.startsWith('{'));
  const text = rest
    .slice(0, end === -1 ? undefined : end)
    .join('\n')
    .trim();
  return { text, mayPass: isPortTaken(text.slice(name.length + 2)) };
}
