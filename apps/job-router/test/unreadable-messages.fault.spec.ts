import {
  BUCKETS,
  HISTORY_READ_SUBJECT,
  noticeSubject,
  ownerSubject,
  routerSubject,
  stopSubject,
} from '@berth/contracts';
import type { EndpointId, JobId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { Broker, LOG_SHARDS, NatsShardClaims, endpointShard, jobShard, logShard } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectOutage } from './bench/outage-report.js';
import { tellAllRead } from './bench/read-history.js';
import { RouterBench, type Scene } from './bench/router-bench.js';

const bench = new RouterBench();

/** Bodies that are nothing of ours. */
const BAD_BODIES: readonly (readonly [string, string | Uint8Array])[] = [
  ['nothing', ''],
  ['no JSON', 'record'],
  ['null', 'null'],
  ['a list', '[]'],
  ['without members', '{}'],
  ['of this version, without members', '{"v":1}'],
  ['of a later version', '{"v":999,"notBeforeMs":0}'],
  ['with wrong types', '{"v":1,"kind":7,"id":7,"state":[],"result":"none","shards":"all","term":{},"owner":1}'],
  ['no UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
  ['large', 'x'.repeat(900_000)],
];

/** What else may lie in a log: headers that claim anything at all, before a batch's own are set beside them. */
const BAD_BATCHES: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  ['of a later format', { 'Berth-Format': '999' }, ''],
  ['of an empty name', { 'Berth-Batch': '' }, ''],
  ['behind itself', { 'Berth-After': '99999999' }, ''],
  ['behind a batch that never was', { 'Berth-After': '0' }, ''],
  ['with an index of words', { 'Berth-Index': 'none at all' }, ''],
  ['of no facts that could be read', {}, 'record'],
  ['of a fact that nobody knows', {}, '{"kind":"dreamt","atMs":1}\n'],
  ['of a fact without members', {}, '{"kind":"submitted","atMs":1}\n'],
  ['of a fact that cannot be', {}, '{"kind":"finished","atMs":1,"jobId":"nobody"}\n'],
];

/** Ids that no job and no endpoint has, as far as a subject can hold them. */
const ODD_IDS = ['odd$id', 'größe', 'a=b', 'x'.repeat(200)];

let intruder: NatsConnection;
let broker: Broker;
let scene: Scene;
/** Those in whose logs something lies, with what it is. */
const spoilt: (readonly [string, Scene])[] = [];
let waiting: string;

const headersOf = (values: Readonly<Record<string, string>>): MsgHdrs => {
  const made = headers();
  for (const [name, value] of Object.entries(values)) made.set(name, value);
  return made;
};

const publish = (subject: string, body: string | Uint8Array, values: Readonly<Record<string, string>> = {}): void => {
  intruder.publish(subject, body, { headers: headersOf(values) });
};

const logOf = (endpointId: string): string => `log.${logShard(endpointId as EndpointId)}.${endpointId}`;

const lastOf = async (endpointId: EndpointId): Promise<number> => {
  const message = await broker.manager.streams.getMessage(`LOG_${logShard(endpointId)}`, {
    last_by_subj: logOf(endpointId),
  });
  return message?.seq ?? 0;
};

/** Endpoints with one job each, and behind it one bad message in their log. */
async function spoilLogs(): Promise<void> {
  const batches = BAD_BATCHES.map(([name, values, body]) => [`a batch ${name}`, body, values] as const);
  const bodies = BAD_BODIES.map(([name, body]) => [name, body, null] as const);
  for (const [name, body, values] of [...bodies, ...batches]) {
    const other = await bench.scene();
    await other.client.run({});
    const after = String(await lastOf(other.endpointId));
    const usual = {
      'Berth-Format': '1',
      'Berth-Batch': 'theirs',
      'Berth-After': after,
      'Berth-Index': '- 0 0 - 0 0 0',
    };
    publish(logOf(other.endpointId), body, values === null ? {} : { ...usual, ...values });
    spoilt.push([name, other]);
  }
}

/** Names by which routers are told of jobs and asked whether they live. */
async function incarnations(): Promise<readonly string[]> {
  const { state } = await broker.manager.streams.info('KV_shards', { subjects_filter: '$KV.shards.router.*' });
  return Object.keys(state.subjects ?? {}).map((subject) => subject.split('.')[3] ?? '');
}

/** One bad message of each kind wherever else there are any, at the endpoint whose jobs must not suffer. */
async function poison({ endpointId, hostId }: Scene): Promise<void> {
  const routers = await incarnations();
  for (const [index, [, body]] of BAD_BODIES.entries()) {
    const jobId = `bad${index}` as JobId;
    const shard = jobShard(jobId);
    publish(`out.${shard}.${endpointId}.${jobId}.1.0`, body);
    publish(`blob.${shard}.${endpointId}.${jobId}.in.0`, body);
    publish(`cur.${endpointShard(endpointId)}.${endpointId}.${jobId}.key`, body);
    for (const bucket of [...Object.values(BUCKETS), 'shards']) publish(`$KV.${bucket}.bad${index}`, body);
    for (const key of [`router.bad${index}`, `claim.${90 + index}`]) publish(`$KV.shards.${key}`, body);
    for (const verb of ['perform', 'find', 'take', 'renew'] as const) {
      publish(ownerSubject(logShard(endpointId), verb), body);
      intruder.publish(ownerSubject(logShard(endpointId), verb), body, { reply: 'nobody' });
    }
    for (const router of routers)
      for (const subjectOf of [noticeSubject, routerSubject]) publish(subjectOf(router), body);
    for (const subject of ['demand.intruder', 'rates.intruder', 'control.changed', HISTORY_READ_SUBJECT]) {
      publish(subject, body);
    }
    publish(stopSubject(hostId), body);
  }
  for (const odd of ODD_IDS) {
    for (let shard = 0; shard < LOG_SHARDS; shard += 1) publish(`log.${shard}.${odd}`, '{}');
    publish(`log.${(logShard(endpointId) + 1) % LOG_SHARDS}.${endpointId}`, '{}');
    publish(`out.0.${endpointId}.${odd}.x.0`, '{}');
    publish(`blob.0.${odd}.${odd}.in.0`, '{}');
    publish(`$KV.shards.router.${odd}`, '{"v":1,"routerId":"r","incarnation":"another","reads":1}');
    for (const bucket of Object.values(BUCKETS)) publish(`$KV.${bucket}.${odd}`, '{"v":1,"value":{"isDeleted":true}}');
  }
  await intruder.flush();
}

const metrics = async (): Promise<string> =>
  (await fetch(`http://127.0.0.1:${bench.router.operationsPort}/metrics`)).text();

/** Whether what lies in the place of the shard's claim can be read. */
async function isClaimed(shard: number): Promise<boolean> {
  const { claims } = await new NatsShardClaims(broker).survey();
  return (claims.get(shard)?.value.term ?? 0) > 0;
}

/** A job from its submit to its end. */
async function runThrough({ agent, client }: Scene): Promise<void> {
  const id = await client.run({});
  const job = await agent.takeOne(20_000);
  expect(job).toMatchObject({ jobId: id });
  await agent.renew(job);
  await agent.complete(job, 'done');
  expect((await client.status(id)).body).toMatchObject({ status: 'COMPLETED', output: 'done' });
}

/** An endpoint whose log lies beside that of the other. */
async function neighbourOf(endpointId: EndpointId): Promise<Scene> {
  for (;;) {
    const id = `ep${systemRandom.id(10)}` as EndpointId;
    if (logShard(id) === logShard(endpointId)) return bench.scene({ id });
  }
}

beforeAll(async () => {
  intruder = await bench.nats.connect();
  broker = await Broker.over({ connection: intruder });
  scene = await bench.scene();
  waiting = await scene.client.run({ before: true });
  await spoilLogs();
  await poison(scene);
});

describe('a message that cannot be read', () => {
  test('keeps no job of its neighbours from being queued, taken and finished', async () => {
    const { agent, client } = scene;
    const after = await client.run({ after: true });
    for (const id of [waiting, after]) {
      const job = await agent.takeOne(20_000);
      expect(job).toMatchObject({ jobId: id });
      await agent.renew(job);
      await agent.complete(job, 'done');
      expect((await client.status(id)).body).toMatchObject({ status: 'COMPLETED', output: 'done' });
    }
    expect((await client.call('/health')).body.jobs).toMatchObject({ completed: 2, inProgress: 0 });
    expect((await client.call('/requests')).status).toBe(200);
  });

  test('stops the one endpoint in whose log it lies, which says so, and none beside it', async () => {
    for (const [what, { client }] of spoilt) {
      // What was decided before it came is still told; whatever is decided from now on meets it.
      const answer = await client.post('/run', { input: {} });
      expect([what, answer.status]).toEqual([what, 503]);
      expectOutage(answer, /^The jobs of this endpoint stand still until the operator has looked at their log/);
      expect((await client.call('/health')).status).toBe(503);
    }
    expect(Number(/^berth_router_endpoint_logs_total\{event="stopped"\} (\d+)$/m.exec(await metrics())?.[1])).toBe(
      spoilt.length,
    );
    for (const [, { endpointId }] of spoilt.slice(0, 4)) await runThrough(await neighbourOf(endpointId));
  });

  test('is counted by where it lies', async () => {
    const text = await metrics();
    for (const place of [
      'endpoint log',
      'owner questions',
      'notices',
      'bucket endpoints',
      'bucket api-keys',
      'bucket assignments',
      HISTORY_READ_SUBJECT,
    ]) {
      expect(text).toMatch(new RegExp(`berth_unreadable_messages_total\\{place="${place}"\\} [1-9]`));
    }
  });

  test('keeps a router that starts beside it from nothing: it becomes ready', async () => {
    const router = await bench.startRouter();
    await runThrough({ ...scene, client: bench.client(scene.endpointId, scene.tenant, router) });
    await router.stop();
  });

  test('in place of the claim of a shard costs the endpoints of that shard a moment', async () => {
    const shard = logShard(scene.endpointId);
    for (const [, body] of BAD_BODIES) publish(`$KV.shards.claim.${shard}`, body);
    await intruder.flush();
    await eventually(async () => expect(await isClaimed(shard)).toBe(true), { deadlineMs: 90_000 });
    await runThrough(scene);
  });

  test('keeps no deleted endpoint from being emptied, also not the one in whose log it lies', async () => {
    const other = await bench.scene();
    await other.client.run({});
    const emptied = [other, scene, ...spoilt.map(([, each]) => each)];
    for (const { endpointId, tenant } of emptied) {
      await bench.controlPlane.endpoint(tenant.accountId, { id: endpointId, isDeleted: true });
    }
    await eventually(
      async () => {
        await tellAllRead(intruder);
        for (const { endpointId } of emptied) expect(await leftOf(endpointId)).toEqual([logOf(endpointId)]);
      },
      { deadlineMs: 90_000, intervalMs: 500 },
    );
  });
});

const copies = (text: string, count: number): readonly string[] => Array.from({ length: count }, () => text);

/** Subjects of logs, payload parts and chunks that are left of an endpoint, each as often as there are messages. */
async function leftOf(endpointId: EndpointId): Promise<readonly string[]> {
  const left: string[] = [];
  for (let shard = 0; shard < LOG_SHARDS; shard += 1) {
    for (const [stream, filter] of [
      [`LOG_${shard}`, `log.${logShard(endpointId)}.${endpointId}`],
      [`OUT_${shard}`, `out.*.${endpointId}.>`],
      [`BLOB_${shard}`, `blob.*.${endpointId}.>`],
    ] as const) {
      const { state } = await broker.manager.streams.info(stream, { subjects_filter: filter });
      for (const [subject, count] of Object.entries(state.subjects ?? {})) left.push(...copies(subject, count));
    }
  }
  return left;
}
