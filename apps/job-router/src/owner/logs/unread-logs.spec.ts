import { expect, test } from '@jest/globals';
import type { LogRoom } from '@berth/messaging';
import { UnreadLogs } from './unread-logs.js';

const logsOf = (room: LogRoom | undefined, readThrough: number): UnreadLogs =>
  new UnreadLogs({ rooms: { of: () => room }, readThrough: () => readThrough });

interface Case {
  readonly room: LogRoom | undefined;
  readonly readThrough: number;
  readonly told: { readonly reason: string; readonly isEscaping: boolean };
}

const READ = { reason: 'read', isEscaping: false };

test.each<[string, Case]>([
  ['of which no room is known', { room: undefined, readThrough: 5, told: READ }],
  ['with room', { room: { fill: 0.69, lastSequence: 9, agedThrough: 5 }, readThrough: 5, told: READ }],
  [
    'with old batches',
    {
      room: { fill: 0.1, lastSequence: 9, agedThrough: 6 },
      readThrough: 5,
      told: { reason: 'aged', isEscaping: true },
    },
  ],
  [
    'without room',
    {
      room: { fill: 0.7, lastSequence: 9, agedThrough: 0 },
      readThrough: 5,
      told: { reason: 'full', isEscaping: true },
    },
  ],
  [
    'without room that is read',
    {
      room: { fill: 0.9, lastSequence: 9, agedThrough: 0 },
      readThrough: 9,
      told: { reason: 'full', isEscaping: false },
    },
  ],
])('a shard %s', (_, { readThrough, room, told: { isEscaping, reason } }) => {
  const logs = logsOf(room, readThrough);
  expect(logs.purgeable(3)).toMatchObject({ reason, readThrough });
  expect(logs.isEscaping(3)).toBe(isEscaping);
});
