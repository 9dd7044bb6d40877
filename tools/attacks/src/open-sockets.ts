import { connect, type Socket } from 'node:net';
import { systemClock } from '@berth/lifecycle';
import type { Attack, Attacking } from './attack.js';

export interface SocketAttack {
  /** Held open at one time; one that the other side closes is opened again. */
  readonly sockets: number;
  /** What each sends, and then nothing more. */
  readonly opening: (attacking: Attacking) => string;
}

const OPENED_AT_ONCE_MAX = 20;
const LOOK_MS = 500;

/** Sockets that send a beginning and keep what it made others reserve for as long as they are let. */
export const holdSockets =
  ({ sockets, opening }: SocketAttack): Attack =>
  async (attacking) => {
    const { signal, tally, target } = attacking;
    const { hostname, port } = new URL(target.runUrl);
    const open = new Set<Socket>();
    const begin = (): void => {
      const socket = connect(Number(port), hostname, () => socket.write(opening(attacking)));
      open.add(socket);
      tally.note('opened');
      socket.on('data', (data) => {
        tally.note(`answered ${/^HTTP\/1.1 (\d{3})/.exec(data.toString('latin1'))?.[1] ?? 'more'}`);
      });
      socket.on('error', () => tally.note('reset'));
      socket.once('close', () => {
        open.delete(socket);
        tally.note('closed');
      });
    };
    while (!signal.aborted) {
      for (let n = 0; n < OPENED_AT_ONCE_MAX && open.size < sockets; n += 1) begin();
      await systemClock.sleep(LOOK_MS, signal);
    }
    for (const socket of open) socket.destroy();
  };
