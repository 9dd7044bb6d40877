import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { allocatePorts, reservePortBlock, type PortReservation } from '../src/index.js';

const held: PortReservation[] = [];

const allocate = async (count: number): Promise<PortReservation> => {
  const reservation = await allocatePorts(count);
  held.push(reservation);
  return reservation;
};

afterEach(async () => {
  await Promise.all(held.splice(0).map((reservation) => reservation.release()));
});

describe('a reservation of ports', () => {
  test('never shares a port with another one that is still held', async () => {
    const reservations = await Promise.all(Array.from({ length: 10 }, () => allocate(10)));
    expect(new Set(reservations.flatMap((reservation) => reservation.ports)).size).toBe(100);
  });

  test('frees its ports when it is released, once or twice', async () => {
    const reservation = await allocate(1);
    await Promise.all([reservation.release(), reservation.release()]);
    const listener = createServer().listen(reservation.ports[0], '127.0.0.1');
    await once(listener, 'listening');
    listener.close();
  });

  test.each([0, -1, 1.5, 101])('of %d ports is refused', async (count) => {
    await expect(allocatePorts(count)).rejects.toBeInstanceOf(RangeError);
  });

  test('of a block is all or nothing', async () => {
    const { ports, release } = await allocate(1);
    const [first] = ports;
    if (first === undefined) throw new Error('one port was asked for');
    expect(await reservePortBlock(first - 1, 3)).toBeUndefined();
    await release();
    const block = await reservePortBlock(first, 1);
    expect(block?.ports).toEqual([first]);
    await block?.release();
  });
});
