import { BUCKETS } from '@berth/contracts';
import type { EndpointId, JobId } from '@berth/domain';
import { Broker, STREAMS, endpointShard, jobShard } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { RouterBench, type Scene } from './bench/router-bench.js';

jest.setTimeout(90_000);

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
  ['with wrong types', '{"v":1,"id":7,"state":[],"history":"none","notBeforeMs":"soon","token":{},"milestones":1}'],
  ['no UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])],
  ['large', 'x'.repeat(900_000)],
];

/** The headers of a record that claims anything at all. */
const BAD_HEADERS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['without headers', {}],
  ['of no state', { 'Berth-State': 'ASLEEP', 'Berth-Attempt': '1', 'Berth-Expires-At': '99999999999999' }],
  ['with numbers that are none', { 'Berth-State': 'IN_QUEUE', 'Berth-Attempt': 'one', 'Berth-Queued-At': 'NaN' }],
  [
    'running since never',
    {
      'Berth-State': 'IN_PROGRESS',
      'Berth-Attempt': '1',
      'Berth-Queued-At': '1',
      'Berth-Expires-At': '99999999999999',
      'Berth-Started-At': 'x',
      'Berth-Milestones': ':::: a:b:c',
    },
  ],
];

/** Ids that no job has, as far as a subject can hold them. */
const ODD_IDS = ['odd$id', 'größe', 'a=b', 'x'.repeat(200)];

let intruder: NatsConnection;
let scene: Scene;
let waiting: string;

const headersOf = (values: Readonly<Record<string, string>>): MsgHdrs => {
  const made = headers();
  for (const [name, value] of Object.entries(values)) made.set(name, value);
  return made;
};

const QUEUED = (): Readonly<Record<string, string>> => ({
  'Berth-State': 'IN_QUEUE',
  'Berth-Attempt': '1',
  'Berth-Priority': 'n',
  'Berth-Queued-At': '1',
  'Berth-Not-Before': '0',
  'Berth-Expires-At': '99999999999999',
  'Berth-Charged': '0',
});

/** One bad message of each kind in every stream and bucket, at the endpoint whose other jobs must not suffer. */
async function poison({ endpointId }: Scene): Promise<void> {
  const queue = endpointShard(endpointId);
  const publish = (subject: string, body: string | Uint8Array, values: Readonly<Record<string, string>> = {}): void => {
    intruder.publish(subject, body, { headers: headersOf(values) });
  };
  for (const [index, [, body]] of BAD_BODIES.entries()) {
    const jobId = `bad${index}` as JobId;
    const shard = jobShard(jobId);
    publish(`job.${shard}.${endpointId}.${jobId}`, body, QUEUED());
    publish(`q.${queue}.${endpointId}.n.${jobId}.1`, body);
    publish(`lease.${queue}.${endpointId}.${jobId}.1`, body);
    publish(`idem.${shard}.${endpointId}.${jobId}`, body);
    publish(`out.${shard}.${endpointId}.${jobId}.1.0`, body);
    publish(`blob.${shard}.${endpointId}.${jobId}.in.0`, body);
    publish(`hook.${index % 4}.${endpointId}.${jobId}.1`, body, { 'Berth-Due-At': 'x', 'Berth-Size': 'y' });
    publish(`cur.${queue}.${endpointId}.${jobId}.key`, body);
    for (const bucket of Object.values(BUCKETS)) publish(`$KV.${bucket}.bad${index}`, body);
    for (const subject of [
      'demand.intruder',
      'rates.intruder',
      'control.changed',
      `agents.${scene.hostId}.down.stop`,
    ]) {
      publish(subject, body);
    }
  }
  for (const [index, [, values]] of BAD_HEADERS.entries()) {
    const jobId = `headers${index}` as JobId;
    publish(`job.${jobShard(jobId)}.${endpointId}.${jobId}`, '{}', values);
  }
  for (const odd of ODD_IDS) {
    publish(`job.0.${endpointId}.${odd}`, '{}', { ...QUEUED(), 'Berth-State': 'IN_PROGRESS', 'Berth-Token': 't' });
    publish(`job.0.${odd}.job`, '{}', QUEUED());
    publish(`q.${queue}.${endpointId}.n.${odd}.one`, '{}');
    publish(`q.${queue}.${odd}`, '{}');
    publish(`lease.${queue}.${endpointId}.${odd}.x`, '{}');
    publish(`out.0.${endpointId}.${odd}.x.0`, '{}');
    publish(`blob.0.${odd}.${odd}.in.0`, '{}');
    publish(`hook.0.${endpointId}.${odd}.x`, '{}', { 'Berth-Due-At': '1', 'Berth-Host': 'h' });
    for (const bucket of Object.values(BUCKETS)) publish(`$KV.${bucket}.${odd}`, '{"v":1,"value":{"isDeleted":true}}');
  }
  await intruder.flush();
}

const metrics = async (): Promise<string> =>
  (await fetch(`http://127.0.0.1:${bench.router.operationsPort}/metrics`)).text();

beforeAll(async () => {
  intruder = await bench.nats.connect();
  scene = await bench.scene();
  waiting = await scene.client.run({ before: true });
  await poison(scene);
});

describe('a message that cannot be read', () => {
  test('keeps no job of its endpoint from being queued, taken and finished', async () => {
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

  test('is a problem of the one job whose record it is, and says so', async () => {
    const answers = await Promise.all(BAD_BODIES.slice(1).map((_, index) => scene.client.status(`bad${index + 1}`)));
    for (const { body, status } of answers) {
      expect({ status, error: body.error ?? body.detail }).toEqual({
        status: 500,
        error: expect.stringMatching(/The record of job bad\d cannot be read/),
      });
    }
  });

  test('is counted by where it lies', async () => {
    const text = await metrics();
    for (const place of [
      'records',
      'bucket endpoints',
      'bucket api-keys',
      'bucket assignments',
      'tickets',
      'deliveries',
    ]) {
      expect(text).toMatch(new RegExp(`router_unreadable_messages_total\\{place="${place}"\\} [1-9]`));
    }
  });

  test('keeps a router that starts beside it from nothing: it becomes ready', async () => {
    const router = await bench.startRouter();
    const client = bench.client(scene.endpointId, scene.tenant, router);
    const id = await client.run({});
    const job = await scene.agent.takeOne(20_000);
    expect(job).toMatchObject({ jobId: id });
    await scene.agent.complete(job, 1);
    await router.stop();
  });

  test('keeps no pass of the pruner from emptying deleted endpoints, itself included', async () => {
    const other = await bench.scene();
    await other.client.run({});
    await bench.controlPlane.endpoint(other.tenant.accountId, { id: other.endpointId, isDeleted: true });
    await bench.controlPlane.endpoint(scene.tenant.accountId, { id: scene.endpointId, isDeleted: true });
    await eventually(
      async () => {
        expect(await subjectsOf(other.endpointId)).toEqual([]);
        expect(await subjectsOf(scene.endpointId)).toEqual([]);
      },
      { deadlineMs: 60_000, intervalMs: 250 },
    );
  });
});

/** Subjects of records and tickets that are left of an endpoint. */
async function subjectsOf(endpointId: EndpointId): Promise<readonly string[]> {
  const broker = await Broker.over({ connection: intruder });
  const left: string[] = [];
  for (let shard = 0; shard < 16; shard += 1) {
    const { state } = await broker.manager.streams.info(`JOBS_${shard}`, { subjects_filter: `job.*.${endpointId}.>` });
    left.push(...Object.keys(state.subjects ?? {}));
  }
  const tickets = await broker.manager.streams.info(STREAMS.tickets(endpointId), {
    subjects_filter: `q.*.${endpointId}.>`,
  });
  return [...left, ...Object.keys(tickets.state.subjects ?? {})];
}
