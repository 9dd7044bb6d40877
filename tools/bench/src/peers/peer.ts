import { request } from 'undici';
import type { Reference } from '../reference.js';
import type { Contender } from './contender.js';

export interface PeerParts extends Pick<Contender, 'name' | 'processes'> {
  readonly front: Reference;
  readonly worker: Reference;
  readonly stopServer: () => Promise<unknown>;
}

/** A queue behind a front like every other peer's. */
export const peerOf = ({ front, name, processes, stopServer, worker }: PeerParts): Contender => ({
  ...{ name, processes },
  targets: [{ origin: front.address, path: '/run', headers: { 'content-type': 'application/json' } }],
  completed: [
    async () => {
      const { body } = await request(`${front.address}/completed`);
      return ((await body.json()) as { completed: number }).completed;
    },
  ],
  stop: async () => {
    await worker.stop();
    await front.stop();
    await stopServer();
  },
});
