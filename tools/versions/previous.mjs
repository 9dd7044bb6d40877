import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** The commit that stands for the version before this one. */
export const { commit: COMMIT } = JSON.parse(readFileSync(join(import.meta.dirname, 'previous.json'), 'utf8'));

/** Why the history that holds it is not here; null: it is. */
export function whyUnavailable() {
  const { error, status } = spawnSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: ROOT });
  if (error !== undefined) return `git cannot be run: ${error.message}`;
  return status === 0 ? null : `The history of this clone does not hold ${COMMIT}.`;
}
