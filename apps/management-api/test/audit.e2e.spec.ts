import { describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

const entriesOf = async (resourceId: string) => {
  const { body } = await bench.call(`GET /v2/audit?resourceId=${resourceId}`);
  return (body as { entries: Record<string, unknown>[] }).entries;
};

describe('the audit trail', () => {
  test('tells who created and deleted an endpoint, when, and by which request', async () => {
    const key = await bench.newAccount();
    const created = await bench.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT });
    const id = created.body.id as string;
    await bench.call(`DELETE /v2/serverless/${id}`, { key });
    const entries = await entriesOf(id);
    expect(entries.map(({ action }) => action)).toEqual(['endpoint.deleted', 'endpoint.created']);
    expect(entries[1]).toEqual({
      id: expect.stringMatching(/^\d+$/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      accountId: expect.any(String),
      apiKeyId: expect.any(String),
      action: 'endpoint.created',
      resourceId: id,
      diff: expect.any(Array),
      requestId: created.headers.get('x-request-id'),
    });
    expect(entries[1]?.['accountId']).not.toBe('default');
  });

  test('has no entry for a change that was refused, and none for a read', async () => {
    const before = await bench.call('GET /v2/audit?limit=1');
    await bench.call('POST /v2/serverless', { body: { ...QUEUE_ENDPOINT, name: '' } });
    await bench.call('DELETE /v2/hosts/unknown');
    await bench.call('GET /v2/serverless');
    expect((await bench.call('GET /v2/audit?limit=1')).body).toEqual(before.body);
  });

  test('has an entry for each kind of change of accounts, keys and hosts, and no secret in it', async () => {
    const account = await bench.call('POST /v2/accounts', { body: { name: 'audited' } });
    const key = await bench.call('POST /v2/api-keys', { body: { name: 'k', scopes: ['jobs:read'] } });
    const host = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'h' } });
    const { hostId } = host.body as { hostId: string };
    for (const action of ['cordon', 'uncordon', 'drain']) {
      await bench.call(`POST /v2/hosts/${hostId}/action`, { body: { action } });
    }
    await bench.call(`DELETE /v2/hosts/${hostId}`);
    await bench.call(`DELETE /v2/api-keys/${key.body.id}`);
    await bench.call(`DELETE /v2/accounts/${account.body.id}`);
    const actions = async (id: string) => (await entriesOf(id)).map(({ action }) => action).reverse();
    expect(await actions(account.body.id as string)).toEqual(['account.created', 'account.deleted']);
    expect(await actions(key.body.id as string)).toEqual(['api-key.created', 'api-key.deleted']);
    expect(await actions(hostId)).toEqual([
      'host.invited',
      'host.cordoned',
      'host.uncordoned',
      'host.draining',
      'host.deleted',
    ]);
    const trail = JSON.stringify((await bench.call('GET /v2/audit?limit=1000')).body);
    for (const secret of [account.body.apiKey.key, key.body.key, host.body.token]) expect(trail).not.toContain(secret);
  });

  test('is read in pages, newest first, without a gap or a repeat', async () => {
    for (let round = 0; round < 5; round += 1) await bench.newAccount();
    const whole = (await bench.call('GET /v2/audit?limit=1000')).body.entries as { id: string }[];
    const paged: { id: string }[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await bench.call(`GET /v2/audit?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      paged.push(...body.entries);
      cursor = body.cursor;
    } while (cursor !== null);
    expect(paged).toEqual(whole);
    expect(whole.map(({ id }) => Number(id))).toEqual(whole.map(({ id }) => Number(id)).sort((a, b) => b - a));
  });

  test.each(['limit=0', 'limit=1001', 'limit=many', 'cursor=abc', 'since=2026'])('400 for ?%s', async (query) => {
    const { body, status } = await bench.call(`GET /v2/audit?${query}`);
    expect(status).toBe(400);
    expect(body.errors).toHaveLength(1);
  });

  test('403 without the scope admin', async () => {
    const key = await bench.newAccount();
    expect((await bench.call('GET /v2/audit', { key })).status).toBe(403);
  });

  test('nobody changes or removes an entry, by SQL neither', async () => {
    await bench.newAccount();
    for (const statement of [
      'DELETE FROM audit_entries',
      `UPDATE audit_entries SET action = 'a.b'`,
      'TRUNCATE audit_entries',
    ]) {
      await expect(bench.source.query(statement)).rejects.toThrow('audit_entries is only ever added to');
    }
  });
});
