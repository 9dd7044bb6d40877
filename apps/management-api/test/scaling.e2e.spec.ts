import type { AccountId, EndpointId } from '@berth/domain';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { ScalingHistoryStore } from '../src/scaling-history/scaling-history.store.js';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();
const AT = '2026-01-01T12:00:00.000Z';
const INPUTS = { demand: { queued: 3, queuedLow: 0, running: 1, oldestWaitMs: 2_500 }, workers: { placed: 1 } };
const OUTCOME = {
  ...{ created: 1, drained: 2, evicted: 1, paused: 3, resumed: 0, forgotten: 0 },
  ...{ unplaced: 2, unplacedReason: 'vcpu' },
};

let endpointId: string;
let path: string;

beforeAll(async () => {
  endpointId = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id;
  path = `GET /v2/serverless/${endpointId}/scaling`;
});

describe('GET /v2/serverless/{id}/scaling', () => {
  test('200 before the first decision', async () => {
    expect(await bench.call(path)).toMatchObject({
      status: 200,
      body: { current: null, decisions: [], cursor: null },
    });
  });

  test('200 with the present decision, who waits, and the decisions of the last day, a page at a time', async () => {
    const waiting = [
      { reason: 'vcpu', detail: 'one host was looked at', since: AT, hosts: [{ id: 'h', reason: 'x' }] },
    ];
    await bench.source.query(
      `INSERT INTO endpoint_scaling (endpoint_id, desired, reason, detail, waiting, decided_at) VALUES ($1, 3, 'demand', '3 queued', $2, $3)`,
      [endpointId, JSON.stringify(waiting), AT],
    );
    const history = new ScalingHistoryStore(new Database(bench.source));
    for (const desired of [1, 2, 3]) {
      const counts = { desiredBefore: desired - 1, desired, reason: 'demand', detail: `${desired} queued` };
      await history.append({
        ...{ endpointId: endpointId as EndpointId, atMs: Date.parse(AT) + desired, inputs: INPUTS, outcome: OUTCOME },
        ...counts,
      });
    }
    const first = await bench.call(`${path}?limit=2`);
    expect(first.body.current).toEqual({ desired: 3, reason: 'demand', detail: '3 queued', decidedAt: AT, waiting });
    expect(first.body.decisions).toEqual([
      {
        ...{ at: '2026-01-01T12:00:00.003Z', desiredBefore: 2, desired: 3, reason: 'demand', detail: '3 queued' },
        ...{ inputs: INPUTS, outcome: OUTCOME },
      },
      expect.objectContaining({ desired: 2 }),
    ]);
    const rest = await bench.call(`${path}?limit=2&cursor=${first.body.cursor}`);
    expect(rest.body).toMatchObject({ decisions: [{ desired: 1 }], cursor: null });
  });

  test('400 for a limit or a cursor that is none', async () => {
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'cursor=x']) {
      expect(await bench.call(`${path}?${query}`)).toMatchObject({ status: 400 });
    }
  });

  test('404 for another account, and nothing is read of it', async () => {
    const key = await bench.newAccount();
    expect(await bench.call(path, { key })).toMatchObject({ status: 404 });
    const other = (await bench.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT })).body.id;
    expect((await bench.call(`GET /v2/serverless/${other}/scaling`, { key })).body).toMatchObject({ decisions: [] });
    const [owner] = await bench.source.query('SELECT account_id FROM endpoints WHERE id = $1', [other]);
    const history = new ScalingHistoryStore(new Database(bench.source));
    const { account_id: accountId } = owner as { account_id: AccountId };
    expect(await history.list(accountId, endpointId as EndpointId, { limit: 9 })).toEqual([]);
  });
});
