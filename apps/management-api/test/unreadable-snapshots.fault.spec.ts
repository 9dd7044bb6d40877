import { BUCKETS } from '@berth/contracts';
import { eventually } from '@berth/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();
const PATIENCE = { deadlineMs: 90_000, intervalMs: 200 };

/** Values that are no snapshot of any kind, each under a key of its own. */
const BAD_VALUES: readonly (readonly [string, string | Uint8Array])[] = [
  ['no-json', 'snapshot'],
  ['nothing', 'null'],
  ['list', '[]'],
  ['empty', '{}'],
  ['without-value', '{"v":1}'],
  ['null-value', '{"v":1,"value":null}'],
  ['number', '{"v":1,"value":5}'],
  ['members-missing', '{"v":1,"value":{}}'],
  ['wrong-types', '{"v":1,"value":{"id":1,"accountId":[],"isDeleted":"yes","workersMax":"many","deletedAtMs":{}}}'],
  ['not-utf8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['megabyte', 'x'.repeat(900_000)],
  ['too.many.tokens', '{"v":1,"value":{}}'],
  ['odd$name', '{"v":1,"value":{"id":"odd$name","isDeleted":true}}'],
  ['alias', '{"v":1,"value":{"id":"another","isDraining":false}}'],
];

let intruder: NatsConnection;
let endpointId: string;
let keyPrefix: string;
let hostId: string;

const readiness = async (operationsUrl: string): Promise<number> => (await fetch(`${operationsUrl}/readyz`)).status;
const metricsOf = async (operationsUrl: string): Promise<string> => (await fetch(`${operationsUrl}/metrics`)).text();

beforeAll(async () => {
  intruder = await bench.nats.connect();
  const endpoint = await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT });
  endpointId = endpoint.body.id as string;
  keyPrefix = (await bench.newAccount()).split('_')[1] ?? '';
  const host = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'h' } });
  hostId = host.body.hostId as string;
  for (const bucket of Object.values(BUCKETS)) {
    for (const [name, value] of BAD_VALUES) intruder.publish(`$KV.${bucket}.${name}`, value);
  }
  await intruder.flush();
});

describe('a snapshot that cannot be read', () => {
  test('keeps no other from being put right, in whichever bucket it lies', async () => {
    intruder.publish(`$KV.endpoints.${endpointId}`, '{"v":1,"value":null}');
    intruder.publish(`$KV.api-keys.${keyPrefix}`, 'no snapshot');
    intruder.publish(`$KV.hosts.${hostId}`, '{"v":1}');
    intruder.publish(`$KV.webhook-secrets.${endpointId}`, '[]');
    await eventually(async () => {
      expect(await bench.endpointSnapshot(endpointId)).toMatchObject({ id: endpointId, isDeleted: false });
      expect(await bench.apiKeySnapshot(keyPrefix)).toMatchObject({ prefix: keyPrefix });
      expect(await bench.hostSnapshot(hostId)).toEqual({ id: hostId, isDraining: false });
      expect((await bench.writerOf<object>(BUCKETS.webhookSecrets).read(endpointId))?.value).toMatchObject({
        endpointId,
      });
    }, PATIENCE);
  });

  test('keeps a process that starts beside it from nothing: it becomes ready', async () => {
    const restarted = await bench.startProcess();
    await eventually(async () => {
      expect(await readiness(restarted.operationsUrl)).toBe(200);
    }, PATIENCE);
    expect(await metricsOf(restarted.operationsUrl)).toMatch(
      /berth_unreadable_messages_total\{place="bucket endpoints"\} [1-9]/,
    );
    await restarted.stop();
  });

  test('and that nothing in the database stands behind is removed after its grace', async () => {
    const left = async (): Promise<readonly string[]> => bench.writerOf(BUCKETS.endpoints).keys();
    await eventually(
      async () => {
        expect((await left()).filter((key) => BAD_VALUES.some(([name]) => name === key))).toEqual([]);
      },
      { ...PATIENCE, deadlineMs: 150_000 },
    );
    expect(await left()).toContain(endpointId);
  });
});
