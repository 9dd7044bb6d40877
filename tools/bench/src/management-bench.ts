import { join, resolve } from 'node:path';
import type { StartedStack } from '@berth/dev-stack';
import { runCommand } from '@berth/servers';
import { Client } from 'pg';
import { median, percentile, print } from './figures.js';
import { sendMany, type LoadOptions } from './load.js';
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

/** The latencies of one side, in ms, round after round. */
type Rounds = (readonly number[])[];

/**
 * Endpoints: how long one caller waits for a new one, and for the list of a hundred, against a handler that sends the
 * same statements to the same PostgreSQL and does nothing else.
 */
export async function benchManagement(stack: StartedStack): Promise<void> {
  const { apiKey, baseUrl, databaseUrl } = stack.dev;
  const reference = await startReference('management-reference.js', [await referenceDatabase(databaseUrl, apiKey)]);
  const origins: Origins = { ours: baseUrl, bare: reference.address };
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const send = async (origin: string, shape: LoadShape): Promise<readonly number[]> => {
    const body = shape.method === 'POST' ? { body: ENDPOINT } : {};
    const load = { origin, path: '/v2/serverless', headers, concurrency: 1, ...body, ...shape };
    return (await sendMany(load)).latenciesMs;
  };
  const sendToBoth = async (shape: LoadShape): Promise<void> => {
    for (const origin of [origins.ours, origins.bare]) await send(origin, shape);
  };
  await sendToBoth({ ...CREATE, requests: LISTED });
  await sendToBoth({ ...LIST, requests: WARM_UP });
  await compare(`GET /v2/serverless with ${LISTED} endpoints`, origins, (origin) => send(origin, LIST));
  await sendToBoth({ ...CREATE, requests: WARM_UP });
  await compare('POST /v2/serverless', origins, (origin) => send(origin, CREATE));
  await reference.stop();
}

interface Origins {
  readonly ours: string;
  readonly bare: string;
}

/** Short rounds in turn, so that a noisy second hits both sides. */
async function compare(
  what: string,
  origins: Origins,
  measure: (origin: string) => Promise<readonly number[]>,
): Promise<void> {
  const ours: Rounds = [];
  const bare: Rounds = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    bare.push(await measure(origins.bare));
    ours.push(await measure(origins.ours));
  }
  const [all, allBare] = [ascending(ours), ascending(bare)];
  print(
    `${what}: p50 ${shown(all, 0.5)}, p99 ${shown(all, 0.99)}; bare handler with the same statements: ` +
      `p50 ${shown(allBare, 0.5)}, p99 ${shown(allBare, 0.99)}; ratio of p50 ${ratio(ours, bare, 0.5)}, ` +
      `of p99 ${ratio([all], [allBare], 0.99)} (${all.length} calls each, one after the other)`,
  );
}

const ascending = (rounds: Rounds): readonly number[] => rounds.flat().sort((a, b) => a - b);

const shown = (latenciesMs: readonly number[], share: number): string =>
  `${percentile(latenciesMs, share).toFixed(2)} ms`;

/** Round by round, then the median of them. */
const ratio = (ours: Rounds, bare: Rounds, share: number): string =>
  median(ours.map((round, index) => percentile(round, share) / percentile(bare[index] ?? [], share))).toFixed(2);

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
