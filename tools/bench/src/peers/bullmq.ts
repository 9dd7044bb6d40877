import { peerOf } from './peer.js';
import { RUNNING, WORKERS, type Contender } from './contender.js';
import { startRedis, type RedisSync } from './redis-server.js';
import { startReference } from '../reference.js';

export interface BullMqOptions {
  readonly sync: RedisSync;
  /** `function`: jobs run in BullMQ's own worker. Otherwise it hands them to workers over HTTP, which call by this. */
  readonly workers: 'function' | 'http' | 'fetch';
}

const SYNCS = { everysec: 'Redis syncs every second', always: 'Redis syncs always' } as const;

export async function bullmq({ sync, workers }: BullMqOptions): Promise<Contender> {
  const redis = await startRedis(sync);
  const port = String(redis.port);
  const front = await startReference('peers/bullmq-front.js', [port]);
  const worker =
    workers === 'function'
      ? await startReference('peers/bullmq-worker.js', [port, String(RUNNING)])
      : await startReference('peers/bullmq-bridge.js', [port, String(RUNNING), String(WORKERS), workers]);
  const how = workers === 'function' ? 'its function in the process' : `workers over HTTP (${workers})`;
  const processes = new Map([
    ['redis-server', [redis.pid]],
    ['front', [front.pid]],
    [workers === 'function' ? 'worker' : 'bridge and workers', [worker.pid]],
  ]);
  return peerOf({
    name: `BullMQ, ${SYNCS[sync]}, ${how}`,
    ...{ front, worker, processes },
    stopServer: () => redis.stop(),
  });
}
