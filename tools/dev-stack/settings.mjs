/**
 * The settings of `npm start`, from which its flags, its help and its warnings are made. `src/config.ts` says what each
 * means, where it is read; this has a copy of that, which `npm run settings` writes, and no imports but Node's: the help must
 * be there before anything is installed or built.
 */
import { readFileSync } from 'node:fs';

export const SETTINGS = JSON.parse(readFileSync(new URL('settings.json', import.meta.url), 'utf8'));

/** Promised, and not built yet: who gives one must hear that nothing comes of it. */
export const SETTINGS_OF_LATER = ['BERTH_LISTEN', 'BERTH_PUBLIC_URL'];

/** `BERTH_LOG_LEVEL` is `--log-level`. */
export const flagOf = (variable) => `--${variable.slice('BERTH_'.length).toLowerCase().replaceAll('_', '-')}`;

export const asksForHelp = (args) => args.some((word) => word === '--help' || word === '-h');

/** @param {string} text Markdown of a line */
const bare = (text) => text.replaceAll('`', '');

/** What `npm start -- --help` prints. */
export function usage() {
  const width = Math.max(...SETTINGS.map(({ variable }) => flagOf(variable).length));
  const lines = SETTINGS.map(
    ({ variable, values, fallback, meaning }) =>
      `  ${flagOf(variable).padEnd(width)}  ${bare(meaning)}\n  ${''.padEnd(width)}  ${variable}, default: ${fallback ?? 'none'} (${bare(values)})`,
  );
  return `npm start -- [--flag VALUE | --flag=VALUE] …

Runs all of Berth on this machine until Ctrl-C. Each flag is also an environment variable; the flag wins.

${lines.join('\n')}
  ${'--help'.padEnd(width)}  this text; starts nothing
`;
}
