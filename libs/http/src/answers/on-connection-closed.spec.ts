import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { onConnectionClosed } from './on-connection-closed.js';

test('a connection on which a thousand answers wait has one listener for all of them', () => {
  const socket = new Socket();
  const before = socket.listenerCount('close');
  const called: number[] = [];
  const forget = Array.from({ length: 1_000 }, (_, answer) => onConnectionClosed(socket, () => called.push(answer)));
  expect(socket.listenerCount('close')).toBe(before + 1);
  for (const each of forget.slice(2)) each();
  socket.emit('close', false);
  expect(called).toEqual([0, 1]);
});
