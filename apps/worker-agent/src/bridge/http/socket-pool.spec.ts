import { Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { SocketPool } from './socket-pool.js';

const openSockets = (pool: SocketPool, count: number, remoteAddress = '10.0.0.1'): readonly Socket[] =>
  Array.from({ length: count }, () => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
    pool.add(socket);
    return socket;
  });

const ended = (sockets: readonly Socket[]): readonly boolean[] => sockets.map(({ destroyed }) => destroyed);

describe('a flood of sockets', () => {
  test('that show no token ends itself, the one that has been silent longest first', () => {
    const pool = new SocketPool(2, 2);
    const [worker, ...others] = openSockets(pool, 2);
    if (worker === undefined) throw new Error('no socket');
    expect(pool.claim(worker, 'w1')).toBe(true);
    const flood = openSockets(pool, 3);
    expect(ended([worker, ...others, ...flood])).toEqual([false, true, true, false, false]);
  });

  test('from one address ends none of another', () => {
    const pool = new SocketPool(3, 2);
    const [modest] = openSockets(pool, 1);
    const flood = openSockets(pool, 4, '10.0.0.2');
    expect(ended([...(modest === undefined ? [] : [modest]), ...flood])).toEqual([false, true, true, false, false]);
  });

  test('of one worker uses up its own, and no other worker’s', async () => {
    const pool = new SocketPool(10, 2);
    const [first, second, third, other] = openSockets(pool, 4) as [Socket, Socket, Socket, Socket];
    expect([first, second, third].map((socket) => pool.claim(socket, 'w1'))).toEqual([true, true, false]);
    expect(pool.claim(first, 'w1')).toBe(true);
    expect(pool.claim(other, 'w2')).toBe(true);
    first.destroy();
    await once(first, 'close');
    expect(pool.claim(third, 'w1')).toBe(true);
  });
});
