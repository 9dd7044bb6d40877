import {
  inboxPrefix,
  jobSubject,
  withdrawSubject,
  type AttemptEnd,
  type DoneReply,
  type JobVerb,
  type TakeReply,
} from '@berth/contracts';
import { API_KEY_DIRECTORY, TrustedProxies, createHttpApp, jobRendering, type HttpApp } from '@berth/http';
import { AgentTransport } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Module } from '@nestjs/common';
import { AgentsScene, ENDPOINT, HOST, WORKER, boxOf } from '../../test/model/agents-scene.js';
import type { Platform } from '../platform/index.js';
import { composeAgents } from './compose-agents.js';
import { serveAgents } from './serve-agents.js';
import { AgentJobsController } from './agent-jobs.controller.js';
import type { JobTaking } from './attempts/job-taking.js';

const nats = useNatsServer();
const scene = new AgentsScene();
let http: HttpApp;
let taking: JobTaking;
let agent: AgentTransport;

const ask = <Reply>(verb: JobVerb, body: object): Promise<Reply> =>
  agent.request(jobSubject(HOST, verb), body, { timeoutMs: 20_000 }) as Promise<Reply>;

const WISH = { takeId: 'wish', endpointId: ENDPOINT, workerId: WORKER, slots: 4, waitMs: 5_000 };

/** Each part as it came; `count` is how many there will be. */
async function askParts<Part>(
  verb: 'take' | 'done',
  body: object,
  { asker = agent, count = 1 } = {},
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  const onPart = (part: unknown): boolean => parts.push(part as Part) === count;
  const options = { timeoutMs: 20_000, onPart, onLate: () => undefined };
  await asker.requestParts(jobSubject(HOST, verb), body, options);
  return parts;
}

const take = async (): Promise<TakeReply['answers'][number] | undefined> =>
  (await askParts<TakeReply>('take', { wishes: [WISH] }))[0]?.answers[0];

beforeAll(async () => {
  const { blobs, chunks, clock, directory, logger, notices, owners, random, registry: metrics, traces } = scene;
  const settings = { secrets: boxOf(1) };
  const platform = { clock, random, logger, metrics, settings, traces } as unknown as Platform;
  const agents = composeAgents(platform, { owners, directory, blobs, chunks, notices });
  taking = agents.taking;
  const made = [directory, ...Object.values(agents)].map((useValue) => ({ provide: useValue.constructor, useValue }));
  const apiKeys = { provide: API_KEY_DIRECTORY, useValue: { find: () => Promise.resolve(null) } };

  @Module({ controllers: [AgentJobsController], providers: [...made, apiKeys] })
  class AppModule {}

  http = await createHttpApp(AppModule, {
    ...{ logger, clock, random, metrics, docsUrl: 'http://docs', credentialForm: 'bearer-or-bare' },
    ...{
      renderingOf: () => jobRendering,
      bodyMaxBytes: () => 1_024,
      getHasEffect: () => false,
      trustedProxies: new TrustedProxies(),
    },
    elsewhere: () => null,
  });
  const connection = await nats.connect();
  const guard = { isOpen: Promise.resolve(true), settle: async () => undefined };
  await serveAgents(http, { connection, drainMs: 5_000, clock, logger, metrics, guard, takes: taking });
});

beforeEach(async () => {
  agent = new AgentTransport(await nats.connect({ inboxPrefix: inboxPrefix(HOST) }));
});

afterAll(async () => {
  taking.close();
  await http.drain(1_000);
});

test('a job goes to its host and comes back with its result', async () => {
  const taken = take();
  await eventually(() => expect(scene.owners.waiting).toBe(1));
  const jobId = scene.submit();
  const reply = await taken;
  const job = reply?.kind === 'jobs' ? reply.jobs[0] : undefined;
  if (job === undefined) throw new Error(reply?.kind);
  const { attempt, endpointId, token } = job;
  const ref = { endpointId, jobId: job.jobId, attempt, token };
  expect(job.jobId).toBe(jobId);
  expect(await ask('renew', { leases: [ref] })).toEqual({ outcomes: ['renewed'] });
  expect(await ask('chunk', { ...ref, index: 0, body: '{"output":1}' })).toEqual({ outcome: 'recorded' });
  expect(await ask('progress', { ...ref, output: { kind: 'inline', json: '0.5' } })).toEqual({ outcome: 'recorded' });
  expect(await ask('upload', { ...ref, part: 0, base64: 'MQ==' })).toEqual({ outcome: 'recorded' });
  await expect(ask('download', { ...ref, part: 0 })).rejects.toMatchObject({ code: 'invalid-fields' });
  const result = { kind: 'completed', output: { kind: 'inline', json: '[1]' } };
  expect(await askParts('done', { ends: [{ ...ref, chunks: 1, result }] })).toEqual([
    { answers: [{ place: 0, outcome: 'recorded' }] },
  ]);
  expect(scene.job(ref)).toMatchObject({ state: 'COMPLETED', chunks: 1, outputBytes: 3 });
});

test('ends that are told together are answered one by one, and one that cannot be read costs the others nothing', async () => {
  const result = { kind: 'completed', output: null } as const;
  const [first, second] = [scene.take(), scene.take()];
  const ends: readonly object[] = [
    { ...first, chunks: 0, result, traceparent: null } satisfies AttemptEnd,
    { ...second, chunks: 0 },
    { ...second, token: 'guessed', chunks: 0, result },
    { ...second, chunks: 0, result },
  ];
  const told: DoneReply['answers'][number][] = [];
  await agent.requestParts(
    jobSubject(HOST, 'done'),
    { ends },
    {
      timeoutMs: 20_000,
      onPart: (part) => told.push(...(part as DoneReply).answers) === ends.length,
      onLate: () => undefined,
    },
  );
  expect(told.toSorted((a, b) => a.place - b.place)).toEqual([
    { place: 0, outcome: 'recorded' },
    {
      place: 1,
      error: expect.objectContaining({ code: 'invalid-fields', detail: expect.stringContaining('ends[1]') }),
    },
    { place: 2, outcome: 'superseded' },
    { place: 3, outcome: 'recorded' },
  ]);
  expect([scene.job(first)?.state, scene.job(second)?.state]).toEqual(['COMPLETED', 'COMPLETED']);
});

test('a host may not list more than it may ask', async () => {
  const wishes = Array.from({ length: 256 }, (_, n) => ({ ...WISH, takeId: `many-${n}` }));
  const asked = Array.from({ length: 17 }, () => askParts('take', { wishes }, { count: 1_000 }));
  await expect(Promise.race(asked)).rejects.toMatchObject({ code: 'rate-limited' });
  await eventually(() => expect(taking.waiting).toBe(4_096));
  agent.tell(withdrawSubject(HOST), { endpointId: ENDPOINT, workerId: WORKER });
  await eventually(() => expect(taking.waiting).toBe(0));
  for (const each of asked) each.catch(() => undefined);
});

test('a take that its host withdraws ends', async () => {
  const taken = take();
  await eventually(() => expect(scene.owners.waiting).toBe(1));
  agent.tell(withdrawSubject(HOST), { endpointId: ENDPOINT, workerId: WORKER });
  expect(await taken).toEqual({ takeId: 'wish', kind: 'none' });
});

test('a job whose answer reaches nobody is queued again, uncharged', async () => {
  const connection = await nats.connect({ inboxPrefix: inboxPrefix(HOST) });
  const gone = askParts('take', { wishes: [{ ...WISH, takeId: 'gone' }] }, { asker: new AgentTransport(connection) });
  gone.catch(() => undefined);
  await eventually(() => expect(scene.owners.waiting).toBe(1));
  await connection.close();
  const jobId = scene.submit();
  await eventually(() => {
    const job = scene.job({ endpointId: ENDPOINT, jobId: jobId as never });
    expect(job).toMatchObject({ state: 'IN_QUEUE', attempt: 2, charged: 0 });
  });
});

test.each<[JobVerb, object]>([
  ['take', { wishes: [{ ...WISH, slots: 0 }] }],
  ['done', { endpointId: ENDPOINT }],
])('what is no %s request is refused by the name of what is wrong', async (verb, body) => {
  await expect(ask(verb, body)).rejects.toMatchObject({
    code: 'invalid-fields',
    message: expect.stringMatching(/^\$\./),
  });
});

test('a host that was removed may do nothing but give up what it asked for', async () => {
  scene.snapshots.hosts.delete(HOST);
  await expect(ask('renew', { leases: [] })).rejects.toMatchObject({ code: 'host-not-found' });
  agent.tell(withdrawSubject(HOST), { endpointId: ENDPOINT, workerId: WORKER });
});
