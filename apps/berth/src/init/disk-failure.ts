import { CommandError } from '../program/index.js';

type Verb = 'read' | 'written';

/** @returns what whoever typed the command can do about a file that the disk refuses; any other error as it is */
export function diskFailure(path: string, verb: Verb, error: unknown): unknown {
  const { code = '', message } = Object(error) as Partial<NodeJS.ErrnoException>;
  if (!OF_SYSTEM.test(code)) return error;
  const { mend, why } = REFUSALS[code] ?? { why: message ?? code, mend: 'Look at that disk and path' };
  return new CommandError(`${path} cannot be ${verb}: ${why}.`, {
    mend: `${mend}, and run the same again. That file is as it was.`,
    cause: error,
  });
}

/** What the operating system says; codes of Node itself have underscores. */
const OF_SYSTEM = /^E[A-Z0-9]+$/;
const ROOM = 'Make room there';
const RIGHT = 'Run it as the user that owns the folder, or give this user the right';
const REFUSALS: Readonly<Record<string, { readonly why: string; readonly mend: string }>> = {
  ENOSPC: { why: 'its disk is full', mend: ROOM },
  EDQUOT: { why: 'its disk is full for this user', mend: ROOM },
  EROFS: { why: 'its disk is read-only', mend: 'Mount it so that it can be written' },
  EACCES: { why: 'this user may not', mend: RIGHT },
  EPERM: { why: 'this user may not', mend: RIGHT },
};
