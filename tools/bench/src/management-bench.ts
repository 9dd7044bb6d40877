import { join, resolve } from 'node:path';
import type { StartedStack } from '@berth/dev-stack';
import { runCommand } from '@berth/servers';
import { Client } from 'pg';
import { compare } from './compare.js';
import { sendMany, type LoadOptions, type LoadResult } from './load.js';
import { startReference } from './reference.js';

const MIGRATE = join(resolve(import.meta.dirname, '../../..'), 'apps/management-api/dist/migrate.main.js');
const MIGRATE_TIMEOUT_MS = 30_000;
const REFERENCE_DATABASE = 'bench_reference';
const ROUNDS = 20;
const LISTED = 100;
const CREATE: LoadShape = { method: 'POST', status: 201, requests: 20 };
const LIST: LoadShape = { method: 'GET', status: 200, requests: 20 };
/** Unmeasured calls of each side: until then a runtime still compiles what it runs. */
const WARM_UP = 300;
const ENDPOINT = JSON.stringify({
  name: 'bench',
  type: 'QUEUE',
  image: 'local/node-echo',
  cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
  scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
  workers: { min: 0, max: 0 },
});

type LoadShape = Pick<LoadOptions, 'method' | 'requests' | 'status'>;

/**
 * Endpoints: how long one caller waits for a new one, and for the list of a hundred, against a handler that sends the
 * same statements to the same PostgreSQL and does nothing else.
 */
export async function benchManagement(stack: StartedStack): Promise<void> {
  const { apiKey, baseUrl, databaseUrl } = stack.dev;
  const reference = await startReference('management-reference.js', [await referenceDatabase(databaseUrl, apiKey)]);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = (origin: string, shape: LoadShape): Promise<LoadResult> => {
    const body = shape.method === 'POST' ? { body: ENDPOINT } : {};
    return sendMany({ origin, path: '/v2/serverless', headers, concurrency: 1, ...body, ...shape });
  };
  const sendToBoth = async (shape: LoadShape): Promise<void> => {
    for (const origin of [baseUrl, reference.address]) await send(origin, shape);
  };
  const compareBoth = (what: string, shape: LoadShape): Promise<void> =>
    compare({
      what: `${what}, one after the other`,
      reference: 'bare handler with the same statements',
      rounds: ROUNDS,
      ours: () => send(baseUrl, shape),
      bare: () => send(reference.address, shape),
    });
  await sendToBoth({ ...CREATE, requests: LISTED });
  await sendToBoth({ ...LIST, requests: WARM_UP });
  await compareBoth(`GET /v2/serverless with ${LISTED} endpoints`, LIST);
  await sendToBoth({ ...CREATE, requests: WARM_UP });
  await compareBoth('POST /v2/serverless', CREATE);
  await reference.stop();
}

/** An empty copy of our own schema on the same server, with the same key in it. Returns its address. */
async function referenceDatabase(databaseUrl: string, apiKey: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${REFERENCE_DATABASE}`);
  await client.end();
  const address = new URL(databaseUrl);
  address.pathname = `/${REFERENCE_DATABASE}`;
  await runCommand(process.execPath, [MIGRATE], {
    timeoutMs: MIGRATE_TIMEOUT_MS,
    env: { BERTH_DATABASE_URL: address.href, BERTH_SEED_API_KEY: apiKey },
  });
  return address.href;
}
