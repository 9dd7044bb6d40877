import { expect, test } from '@jest/globals';
import { EXIT_STATUS, misuse } from '../program/index.js';
import { diskFailure } from './disk-failure.js';

const refusal = (code: string): Error => Object.assign(new Error(`${code}: refused`), { code });

test.each([
  ['ENOSPC', /^\/etc\/b cannot be written: its disk is full\.$/, /^Make room there/],
  ['EDQUOT', /: its disk is full for this user\.$/, /^Make room there/],
  ['EROFS', /: its disk is read-only\.$/, /^Mount it so that it can be written/],
  ['EACCES', /: this user may not\.$/, /^Run it as the user that owns/],
  ['EPERM', /: this user may not\.$/, /^Run it as the user that owns/],
  ['EIO', /: EIO: refused\.$/, /^Look at that disk/],
])('a disk that refuses by %s is told of with what mends it', (code, message, mend) => {
  const failure = diskFailure('/etc/b', 'written', refusal(code));
  expect(failure).toMatchObject({ name: 'CommandError', status: EXIT_STATUS.failed });
  expect(failure).toMatchObject({ message: expect.stringMatching(message), mend: expect.stringMatching(mend) });
  expect(failure).toMatchObject({ mend: expect.stringContaining('run the same again') });
});

test.each([misuse('no', 'do'), new TypeError('a fault of ours')])('%s stays what it is', (error) => {
  expect(diskFailure('/etc/b', 'read', error)).toBe(error);
});
