import { UNKNOWN_ROUTER, type EndpointId, type UnreadableMessage } from '@berth/domain';
import type { LogEntry } from '@berth/endpoint-log';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { MsgHdrsImpl, type MsgHdrs } from '@nats-io/transport-node';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Broker } from '../../src/broker/broker.js';
import { NatsLogBroker } from '../../src/endpoint-log/nats-log-broker.js';
import { NatsShardClaims } from '../../src/endpoint-log/nats-shard-claims.js';
import { logShard } from '../../src/topology/shards.js';
import { logSubject } from '../../src/topology/subjects.js';
import { ensure, openBroker } from '../open-broker.js';
import { QUIET } from './log-writer.js';

const nats = useNatsServer();
const noted: UnreadableMessage[] = [];
let broker: Broker;
let log: NatsLogBroker;

beforeAll(async () => {
  const { connection } = await openBroker(nats);
  broker = await Broker.over({ connection, onUnreadable: (message) => noted.push(message) });
  await ensure(broker, 'jobs');
  log = new NatsLogBroker({ broker, clock: systemClock });
});
afterAll(() => broker.connection.close());
beforeEach(() => {
  noted.length = 0;
});

const freshEndpoint = (): EndpointId => `ep-${systemRandom.id(12)}` as EndpointId;

async function append(endpointId: EndpointId, after: number): Promise<number> {
  const facts = new Uint8Array([1, 2, 3]);
  const outcome = await log.append({ endpointId, after, batchId: 'ours', index: QUIET, facts });
  return outcome.kind === 'stored' ? outcome.sequence : 0;
}

async function readAll(endpointId: EndpointId): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for await (const entry of log.read(endpointId, 0)) entries.push(entry);
  return entries;
}

const withHeaders = (values: Readonly<Record<string, string>>, headers = new MsgHdrsImpl()): MsgHdrs => {
  for (const [name, value] of Object.entries(values)) headers.append(name, value);
  return headers;
};

describe('a message in a log that somebody else wrote', () => {
  test.each([
    ['looks like the broker’s word that there is nothing', new MsgHdrsImpl(404, 'Message Not Found')],
    ['looks like the end of a page', withHeaders({ 'Nats-Num-Pending': '0' }, new MsgHdrsImpl(204, 'EOB'))],
    ['looks like a broker without anybody to answer', new MsgHdrsImpl(503, '')],
    ['names another place than its own', withHeaders({ 'Nats-Sequence': '1', 'Nats-Last-Sequence': '9' })],
    ['has headers of ours and none of what belongs to them', withHeaders({ 'Berth-Format': '1' })],
  ])('that %s hides nothing behind it', async (_, headers) => {
    const endpointId = freshEndpoint();
    const first = await append(endpointId, 0);
    const answer = await broker.request(logSubject(endpointId), 'x', headers);
    const { seq } = JSON.parse(answer.string()) as { readonly seq: number };
    const last = await append(endpointId, seq);
    const entries = await readAll(endpointId);
    expect(entries.map(({ sequence }) => sequence)).toEqual([first, seq, last]);
    expect(entries[1]).toEqual({ sequence: seq, unreadable: expect.any(String) });
    expect(await log.readNext(endpointId, first)).toEqual({ sequence: seq, unreadable: expect.any(String) });
    expect(await log.readNext(endpointId, seq)).toHaveProperty('batchId', 'ours');
    expect(noted).toContainEqual(
      expect.objectContaining({ place: 'endpoint log', key: `${logSubject(endpointId)} ${seq}` }),
    );
  });

  test('is no head where its subject names no endpoint of the shard', async () => {
    const endpointId = freshEndpoint();
    const shard = logShard(endpointId);
    await append(endpointId, 0);
    const elsewhere = `log.${(shard + 1) % 16}.${endpointId}`;
    await broker.request(elsewhere, 'x');
    await broker.request(`log.${shard}.$weird`, 'x');
    await eventually(async () => {
      const heads: EndpointId[] = [];
      for (const each of [shard, (shard + 1) % 16]) {
        for await (const head of log.heads(each)) heads.push(head.endpointId);
      }
      expect(heads.filter((each) => each === endpointId)).toHaveLength(1);
      expect(heads).not.toContain('$weird');
    });
    expect(noted.map(({ key }) => key)).toEqual(expect.arrayContaining([elsewhere, `log.${shard}.$weird`]));
  });
});

describe('an entry of the claims that somebody else wrote', () => {
  test.each([
    '',
    'no JSON',
    '{"v":2,"owner":null,"term":1}',
    '{"v":1,"owner":{"routerId":1},"term":1}',
    '{"v":1,"term":-1}',
  ])('is that of nobody known, which can be replaced, and hides no other: %s', async (body) => {
    const claims = new NatsShardClaims(broker);
    await claims.claim(0, { owner: null, term: 1 }, 0);
    await broker.request('$KV.shards.claim.1', body);
    await broker.request('$KV.shards.router.odd', body);
    const survey = await claims.survey();
    expect([...survey.claims.keys()]).toEqual([0, 1]);
    const found = survey.claims.get(1);
    expect(found?.value).toEqual({ owner: UNKNOWN_ROUTER, term: 0 });
    expect(await claims.claim(1, { owner: null, term: 1 }, found?.revision ?? 0)).toMatchObject({ kind: 'written' });
    expect(survey.routers.size).toBe(0);
    expect(noted.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['$KV.shards.claim.1', '$KV.shards.router.odd']),
    );
  });

  test('is no router where it has another one’s name', async () => {
    const claims = new NatsShardClaims(broker);
    await broker.request('$KV.shards.router.one', '{"v":1,"routerId":"r","incarnation":"other","reads":1}');
    expect((await claims.survey()).routers.has('one')).toBe(false);
    expect((await claims.survey()).routers.has('other')).toBe(false);
  });
});

describe('a broker that does not answer', () => {
  test('leaves an append unknown, and fails what is read and purged', async () => {
    const connection = (await openBroker(nats)).connection;
    const silent = new NatsLogBroker({ broker: await Broker.over({ connection, timeoutMs: 300 }), clock: systemClock });
    const endpointId = freshEndpoint();
    process.kill(nats.server.pid, 'SIGSTOP');
    try {
      const batch = { endpointId, after: 0, batchId: 'ours', index: QUIET, facts: new Uint8Array() };
      expect(await silent.append(batch)).toEqual({ kind: 'unknown', reason: 'TimeoutError: timeout' });
      const unavailable = { code: 'service-unavailable' };
      await expect(silent.readNext(endpointId, 0)).rejects.toMatchObject(unavailable);
      await expect(silent.read(endpointId, 0).next()).rejects.toMatchObject(unavailable);
      await expect(silent.purge(endpointId, 1)).rejects.toMatchObject(unavailable);
      await expect(silent.heads(0).next()).rejects.toMatchObject(unavailable);
      const claims = new NatsShardClaims(await Broker.over({ connection, timeoutMs: 300 }));
      await expect(claims.survey()).rejects.toMatchObject(unavailable);
      expect(await claims.claim(15, { owner: null, term: 1 }, 0)).toEqual({ kind: 'unknown' });
    } finally {
      process.kill(nats.server.pid, 'SIGCONT');
      await connection.close();
    }
  });

  test('a batch that no reader would take for one is not sent', async () => {
    const endpointId = freshEndpoint();
    const batch = { endpointId, after: 0, batchId: 'a b', index: QUIET, facts: new Uint8Array() };
    expect(await log.append(batch)).toEqual({ kind: 'fault', reason: expect.any(String) });
    expect(await log.readNext(endpointId, 0)).toBeNull();
  });
});
