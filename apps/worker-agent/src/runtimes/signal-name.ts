import { constants } from 'node:os';

/** A signal for people, as `signal 11 (SIGSEGV)`. */
export function signalName(number: number): string {
  const name = Object.entries(constants.signals).find(([, each]) => each === number)?.[0];
  return `signal ${String(number)}${name === undefined ? '' : ` (${name})`}`;
}
