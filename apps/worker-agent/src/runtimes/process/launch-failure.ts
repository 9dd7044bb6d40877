import type { ChildProcess } from 'node:child_process';

/** Why the child could not do its work, once that is known. */
export function launchFailureOf(child: ChildProcess): () => string | null {
  let failure: string | null = null;
  child.on('error', (error) => {
    failure = error.message;
  });
  child.on('exit', (code, signal) => {
    // Ended before it said who it is; a program that ended at once has said so, and is nobody's failure to start.
    failure ??= `its shell ended with ${signal ?? `code ${String(code)}`}`;
  });
  return () => failure;
}
