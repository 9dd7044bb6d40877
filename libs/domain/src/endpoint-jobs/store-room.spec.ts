import { expect, test } from '@jest/globals';
import { findsRoom } from './store-room.js';

test.each([
  [0, ['submit', 'take', 'retry', 'progress', 'begin-try', 'finish', 'cancel', 'look']],
  [0.749, ['submit', 'take', 'retry', 'progress', 'begin-try', 'finish', 'cancel', 'look']],
  [0.75, ['take', 'retry', 'progress', 'begin-try', 'finish', 'cancel', 'look']],
  [0.899, ['take', 'retry', 'progress', 'begin-try', 'finish', 'cancel', 'look']],
  [0.9, ['finish', 'cancel', 'look']],
  [1, ['finish', 'cancel', 'look']],
] as const)('at %d there is room for %j', (fill, found) => {
  const asked = ['submit', 'take', 'retry', 'progress', 'begin-try', 'finish', 'cancel', 'look'] as const;
  expect(asked.filter((kind) => findsRoom(kind, fill))).toEqual(found);
});

test('what ends jobs, or was begun before, always finds room', () => {
  const always = [
    'finish',
    'give-up',
    'let-go',
    'cancel',
    'replace-life',
    'purge',
    'look',
    'end-try',
    'open',
    'delete',
  ];
  for (const kind of always) expect(findsRoom(kind as 'finish', 1)).toBe(true);
});
