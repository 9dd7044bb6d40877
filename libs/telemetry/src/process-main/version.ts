import { readFileSync } from 'node:fs';

const PACKAGE = new URL('../../package.json', import.meta.url);

/** The version of Berth that this is: all packages have the same. */
export const versionOf = (): string =>
  (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }).version;
