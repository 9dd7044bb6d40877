import type { SecretBox } from '@berth/secrets';
import type { BackupHead } from './backup-format.js';
import { keyContext } from './restore-refusals.js';

/**
 * Of the keys that a backup was made with, those that seal no more, as sealed texts name them. Processes that are started with
 * the first key alone open nothing that these have sealed.
 */
export function olderKeysOf(box: SecretBox, head: Pick<BackupHead, 'id' | 'keyFingerprints'>): readonly string[] {
  const fingerprints = box.fingerprintsOf(head.id, keyContext(head.id));
  return box.keyIds.filter((_, at) => at > 0 && head.keyFingerprints.includes(fingerprints[at] ?? ''));
}

/** What a restore says at its end. */
export function restoredLines(startedAt: string, olderKeys: readonly string[]): readonly string[] {
  const restored = `The installation is as it was at ${startedAt}.`;
  if (olderKeys.length === 0) return [`${restored} Start its processes.`];
  return [
    restored,
    `What is in it may be sealed with keys that seal no more: ${olderKeys.join(', ')}. Do not start its processes yet.`,
    'First give env/management-api.env, env/job-router.env and env/backup.env the BERTH_SECRET_KEY of env/restore.env, all keys of ' +
      'it. docs/backup.md (A backup of before a new secret key) has the commands, and how to come back to one key.',
  ];
}
