import type { StartedStack } from '@berth/dev-stack';
import { Client } from 'pg';
import { startReference } from '../reference.js';
import { RUNNING, type Contender } from './contender.js';
import { peerOf } from './peer.js';

const DATABASE = 'bench_graphile';

/** graphile-worker on the stack's own PostgreSQL, in a database of its own, tuned as its documents advise. */
export async function graphile(stack: StartedStack): Promise<Contender> {
  const { databaseUrl } = stack.dev;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${DATABASE}`);
  await client.end();
  const address = new URL(databaseUrl);
  address.pathname = `/${DATABASE}`;
  const front = await startReference('peers/graphile-front.js', [address.href]);
  const worker = await startReference('peers/graphile-worker.js', [address.href, String(RUNNING)]);
  const processes = new Map([
    ['postgres', [stack.pidOf('postgres')]],
    ['front', [front.pid]],
    ['worker', [worker.pid]],
  ]);
  return peerOf({
    name: 'graphile-worker, tuned, its function in the process',
    ...{ front, worker, processes },
    stopServer: () => Promise.resolve(),
  });
}
