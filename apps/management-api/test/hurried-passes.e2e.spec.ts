import { createHash } from 'node:crypto';
import { CONTROL_HINT_SUBJECT, hostSubject, inboxPrefix } from '@berth/contracts';
import { GB_BYTES, type HostId, type Inventory } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';
import { beforeEach, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

const SECRET = 'a-long-secret';
const INVENTORY: Inventory = {
  ...{ vcpus: 8, isOvercommitted: false, memoryBytes: 16 * GB_BYTES, diskBytes: 100 * GB_BYTES, gpus: [] },
  ...{ areGpusSimulated: false, cudaVersion: null, runtime: 'process', images: [] },
};
const TIMEOUT = { timeoutMs: 5_000 };

let connection: NatsConnection;
let hostId: HostId;
let token: string;
let agent: AgentTransport;

beforeEach(async () => {
  connection = await bench.nats.connect();
  const { body } = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host' } });
  hostId = body.hostId;
  token = body.token;
  agent = new AgentTransport(await bench.nats.connect({ inboxPrefix: inboxPrefix(hostId) }));
});

/** Resolves when the loops are told to look, after what was done. */
async function hintOf(act: () => Promise<unknown>): Promise<unknown> {
  const hints = connection.subscribe(CONTROL_HINT_SUBJECT, { max: 1 });
  await connection.flush();
  await act();
  for await (const hint of hints) return hint.json();
  return null;
}

const ALL = expect.objectContaining({ body: { endpointId: 'all' } });

const join = () =>
  agent.request(
    hostSubject(hostId, 'join'),
    { token, secretHash: createHash('sha256').update(SECRET).digest('hex'), inventory: INVENTORY },
    TIMEOUT,
  );

const report = (sequence: number, workers: readonly object[], inventory = INVENTORY) =>
  agent.request(
    hostSubject(hostId, 'report'),
    { instanceId: 'instance', secret: SECRET, sequence, inventory, workers },
    TIMEOUT,
  );

test('a host that joins, has more, or has lost a worker makes room: the loops look at once', async () => {
  expect(await hintOf(join)).toEqual(ALL);
  expect(await hintOf(() => report(1, [], { ...INVENTORY, vcpus: 16 }))).toEqual(ALL);
  const endpointId = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id as string;
  const resources = { vcpus: 2, memoryBytes: GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: null, gpuCount: 0 };
  const workerId = `w-${hostId}`;
  await bench.source.query(
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources) VALUES ($1, $2, $3, 1, 'drained', $4)`,
    [workerId, endpointId, hostId, JSON.stringify(resources)],
  );
  const removed = {
    ...{ workerId, endpointId, release: 1, phase: 'removed', reason: '', runningJobs: 0, failedStarts: 0 },
    ...{ phaseSinceMs: 1, startedAtMs: null, gpuTypeId: null },
  };
  expect(await hintOf(() => report(2, [removed], { ...INVENTORY, vcpus: 16 }))).toEqual(ALL);
});

test('so does one that is uncordoned, and a limit that is raised', async () => {
  await join();
  const act = (action: string) => bench.call(`POST /v2/hosts/${hostId}/action`, { body: { action } });
  await act('cordon');
  expect(await hintOf(() => act('uncordon'))).toEqual(ALL);
  const { id } = (await bench.call('POST /v2/accounts', { body: { name: 'tenant' } })).body as { id: string };
  const raise = () => bench.call(`PATCH /v2/accounts/${id}`, { body: { limits: { workers: 2_000 } } });
  expect(await hintOf(raise)).toEqual(ALL);
});
