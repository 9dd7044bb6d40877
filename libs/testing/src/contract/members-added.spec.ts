import { expect, test } from '@jest/globals';
import { withMembersAdded } from './members-added.js';

const ADDED = { addedLater: { deep: true } };

test('each object of a message gets the member once, alone, wherever it lies', () => {
  const message = { list: [1, { name: 'ship' }], none: null, env: { A: 'a' } };
  expect(withMembersAdded(message, ['env'])).toEqual([
    { path: '', body: { ...message, ...ADDED } },
    { path: '/list/1', body: { ...message, list: [1, { name: 'ship', ...ADDED }] } },
  ]);
});
