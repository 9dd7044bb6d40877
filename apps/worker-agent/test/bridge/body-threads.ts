import type { ThreadProgram } from '@berth/lifecycle';

const fromSources = (entry: string): ThreadProgram => ({
  entry: new URL(entry, import.meta.url),
  execArgv: ['--import', new URL('./threads/source-imports.ts', import.meta.url).href],
});

/** The thread that reads large bodies, from its sources: a unit test has no build. */
export const SOURCE_THREAD = fromSources('../../src/bridge/bodies/body-thread.ts');

/** The same, but `DIE` in a body ends it, and it never answers to one with `STALL`. */
export const MORTAL_THREAD = fromSources('./threads/mortal-thread.ts');
