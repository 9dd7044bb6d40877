import { expect, test } from '@jest/globals';
import { judgeSealing } from './sealing-verdict.js';

const [NOW, OLD, LOST] = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'];

test.each([
  ['nothing is sealed', [], [NOW]],
  ['all is sealed with the key of now', [[NOW, 3]], [NOW]],
  ['keys are being replaced', [[NOW, 3], [OLD, 2]], [OLD, NOW]], // prettier-ignore
] as const)('a backup is whole where %s', (_, sealedWith, own) => {
  expect(judgeSealing(new Map(sealedWith), own)).toEqual({ kind: 'whole' });
});

test('keys that open nothing are refused, with the setting and the key that it lacks', () => {
  expect(judgeSealing(new Map([[NOW, 3]]), [OLD])).toMatchObject({
    kind: 'refused',
    refusal: {
      message: `BERTH_SECRET_KEY opens none of the 3 secrets in the database; they were sealed with ${NOW}.`,
      mend: expect.stringContaining('as the management API has it'),
    },
  });
});

test('a secret whose key is lost is told of, and keeps nobody from a backup', () => {
  const sealedWith = new Map([
    [NOW, 3],
    [LOST, 1],
  ]);
  expect(judgeSealing(sealedWith, [NOW])).toMatchObject({
    kind: 'partly',
    note: expect.stringContaining(`does not open 1 of the secrets in the database, which were sealed with ${LOST}`),
  });
});
