import { SecretBox, parseSecretKeys } from '@berth/secrets';
import { expect, test } from '@jest/globals';
import { keyContext } from './restore-refusals.js';
import { olderKeysOf, restoredLines } from './restored-lines.js';

const AT = '2026-11-26T02:00:00.000Z';
const BACKUP_ID = 'backup';
const KEYS = [1, 2, 3].map((fill) => Buffer.alloc(32, fill).toString('base64'));

const boxOf = (...keys: readonly (string | undefined)[]): SecretBox =>
  new SecretBox(parseSecretKeys(keys.join(',')) as never);

const headOf = (box: SecretBox): { readonly id: string; readonly keyFingerprints: readonly string[] } => ({
  id: BACKUP_ID,
  keyFingerprints: box.fingerprintsOf(BACKUP_ID, keyContext(BACKUP_ID)),
});

test('a backup of the key that seals now needs no other, whatever keys open besides', () => {
  const box = boxOf(KEYS[2], KEYS[1], KEYS[0]);
  expect(olderKeysOf(box, headOf(boxOf(KEYS[2])))).toEqual([]);
  expect(restoredLines(AT, [])).toEqual([`The installation is as it was at ${AT}. Start its processes.`]);
});

test('a backup of before a rotation names the keys that the processes need too, and which files have to have them', () => {
  const box = boxOf(KEYS[2], KEYS[1], KEYS[0]);
  const [, second = '', first = ''] = box.keyIds;
  expect(olderKeysOf(box, headOf(boxOf(KEYS[0])))).toEqual([first]);
  expect(olderKeysOf(box, headOf(boxOf(KEYS[1], KEYS[0])))).toEqual([second, first]);
  const [says, warning, ...more] = restoredLines(AT, [second, first]);
  expect(says).not.toContain('Start');
  expect(warning).toContain(`${second}, ${first}`);
  for (const name of ['management-api', 'job-router', 'backup', 'restore']) {
    expect(more.join('\n')).toContain(`env/${name}.env`);
  }
});
