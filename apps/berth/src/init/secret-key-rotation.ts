import { misuse } from '../program/index.js';
import type { InstallationFolder } from './installation-folder.js';
import { restoreKeysOf, rotateSecretKey, secretKeysOf, type RotationStep, type SecretKeys } from './secret-keys.js';

/** What can be replaced without a stop, step by step. */
export const ROTATIONS = ['secret-key'] as const;

/** What must be done before the next step, as people and documents read it. */
export const AFTER_STEP: Readonly<Record<RotationStep, string>> = {
  add: 'Restart the management API and the job routers, one after the other; then `--step switch`.',
  switch:
    'Restart the management API and the job routers, one after the other. When berth_management_sealed_with_old_keys is 0 ' +
    'for every kind on every management API, and the longest job is over (7 days at most): `--step retire`.',
  retire:
    'Restart the management API and the job routers, one after the other. The old key stays in offline/installation.json and env/restore.env, for backups of before.',
};

/** The files that have the key, and whether an installation of an older version may be without them. */
const SECRET_KEY_FILES = [
  { path: 'env/management-api.env', isOptional: false, keysOf: secretKeysOf },
  { path: 'env/job-router.env', isOptional: false, keysOf: secretKeysOf },
  { path: 'env/backup.env', isOptional: true, keysOf: secretKeysOf },
  { path: 'env/restore.env', isOptional: true, keysOf: restoreKeysOf },
] as const;

const LINE = /^BERTH_SECRET_KEY=(.*)$/m;

/** What a step has done. */
export interface RotationOutcome {
  readonly step: RotationStep;
  /** Files that had something else. */
  readonly replaced: readonly string[];
}

/**
 * Makes a step. A run that was cut off is repaired by the same step once more: the installation keeps every key, also the
 * one that a step takes out of the files.
 *
 * @throws CommandError when it cannot be made; nothing is written then
 */
export async function runSecretKeyRotation(
  folder: InstallationFolder,
  step: RotationStep,
  makeKey: () => string,
): Promise<RotationOutcome> {
  const before = await folder.read();
  if (before === null) throw misuse(`${folder.path} holds no installation.`, 'Make one first: `berth init DIR`.');
  const after = rotateSecretKey(before, step, makeKey());
  const files = await changedFiles(folder, before, after);
  if (after !== before) await folder.replace(after);
  for (const { path, text } of files) await folder.overwrite({ path, text, isSecret: true });
  return { step, replaced: files.map(({ path }) => path) };
}

/** The files with the keys of now, and nothing else of them changed: the rest may have been changed by hand. */
async function changedFiles(
  folder: InstallationFolder,
  before: SecretKeys,
  after: SecretKeys,
): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const known = new Set([before, after].flatMap((each) => restoreKeysOf(each).split(',')));
  const changed: { readonly path: string; readonly text: string }[] = [];
  for (const { isOptional, keysOf, path } of SECRET_KEY_FILES) {
    const line = `BERTH_SECRET_KEY=${keysOf(after)}`;
    const text = await folder.readFile(path);
    if (text === null && isOptional) continue;
    const found = LINE.exec(text ?? '');
    requireKnown(path, found?.[1] ?? null, known);
    if (text !== null && found?.[0] !== line) changed.push({ path, text: text.replace(LINE, () => line) });
  }
  return changed;
}

function requireKnown(path: string, value: string | null, known: ReadonlySet<string>): void {
  if (value === null) {
    throw misuse(`${path} has no BERTH_SECRET_KEY; nothing was changed.`, 'Put the line back that it had.');
  }
  if (value.split(',').every((key) => known.has(key.trim()))) return;
  throw misuse(
    `${path} has a BERTH_SECRET_KEY that berth init has not made; nothing was changed.`,
    'End the rotation by hand that was begun by hand (docs/production.md), with the key of offline/installation.json.',
  );
}
