import { join, resolve } from 'node:path';
import { ATTEMPT_LEASE_MS } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { SeededRandom, eventually } from '@berth/testing';
import { checkHistory, type HostFault } from '@berth/testing/checker';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AppProcessName } from '../src/app-processes.js';
import { TenantClient } from '../src/tenant-client.js';
import { HookReceiver } from './crash/hook-receiver.js';
import { BalancedEndpoint } from './stack/balanced-endpoint.js';
import { Diary } from './stack/diary.js';
import { FurtherHost } from './stack/further-host.js';
import { OpenLoad } from './stack/open-load.js';
import { ReadyRouters } from './stack/ready-routers.js';
import { crossRouters } from './versions/cross-routers.js';
import { PRESENT, preparePrevious } from './versions/previous-version.js';
import { ProxiedCaller } from './versions/proxied-caller.js';
import { Traffic } from './versions/traffic.js';
import { VersionedStack } from './versions/versioned-stack.js';

/** Of the build of the version before, the first time. */
const PREPARE_MS = 1_200_000;
const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
const IMAGES = resolve(import.meta.dirname, 'workers');
const NAMES: readonly AppProcessName[] = [
  ...(['management-api', 'controllers'] as const),
  ...(['job-router', 'job-router-2', 'worker-agent'] as const),
];
const ROUTERS = ['job-router', 'job-router-2'] as const;
/** Of each host: one worker for requests and three for jobs. */
const [BALANCED_VCPUS, JOB_VCPUS] = [8, 2];
const VCPUS = BALANCED_VCPUS + 3 * JOB_VCPUS;
const WORKERS = 2;
const SLOTS = 400;
const PER_SECOND = 20;
const SEED = 83;
const DRAIN_DELAY_MS = 2_000;

let previous: string;
let versions: VersionedStack;
/** The agent that keeps its workers; the one of the stack lets them go. */
let keeper: FurtherHost;
let receiver: HookReceiver;
let balanced: BalancedEndpoint;
let routers: ReadyRouters;
let load: OpenLoad;
let caller: ProxiedCaller;
let traffic: Traffic;
const absences: HostFault[] = [];

const dev = () => versions.stack.dev;

async function createQueue(): Promise<string> {
  const client = new TenantClient(dev, WAIT.deadlineMs);
  const { body, status } = await client.manage<{ readonly id: string }>('POST', '/v2/serverless', {
    ...{ name: 'jobs', type: 'QUEUE', image: 'local/diary' },
    cpu: [{ id: 'cpu3c', vcpuCount: JOB_VCPUS }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 2, max: 3 },
    env: { DIARY: join(versions.stack.home, 'diary.jsonl') },
  });
  expect(status).toBe(201);
  return body.id;
}

async function addKeeper(): Promise<FurtherHost> {
  const tenant = new TenantClient(dev, WAIT.deadlineMs);
  return FurtherHost.add(versions.stack, tenant, {
    ...{ name: 'keeper', dataCenterId: 'EU-RO-1', root: previous },
    settings: {
      ...{ BERTH_KEEP_WORKERS: 'true', BERTH_RUNTIME: 'process', BERTH_IMAGES: IMAGES },
      ...{ BERTH_VCPUS: String(VCPUS), BERTH_TUNNEL_VIA: '127.0.0.1' },
    },
  });
}

beforeAll(async () => {
  previous = await preparePrevious();
  receiver = await HookReceiver.open();
  const size = ['--vcpus', String(VCPUS), '--routers', '2', '--rate-limits', 'off'];
  const flags = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', ...size];
  flags.push('--drain-delay-ms', String(DRAIN_DELAY_MS));
  versions = await VersionedStack.start(NAMES, previous, flags);
  keeper = await addKeeper();
  balanced = await BalancedEndpoint.create(versions.stack, {
    ...{ requestCount: SLOTS, workers: { min: WORKERS, max: WORKERS }, vcpus: BALANCED_VCPUS },
  });
  await balanced.up(WORKERS);
  routers = new ReadyRouters(versions.stack, ROUTERS);
  const isReady = (router: number): boolean => routers.has(router);
  load = new OpenLoad(balanced, { perSecond: PER_SECOND, isReady, asksNext: true });
  caller = new ProxiedCaller(dev, routers, await createQueue());
  traffic = new Traffic(caller, receiver, SEED);
}, PREPARE_MS);

/** The workers of the keeper go once they see that its folder has gone. */
afterAll(async () => {
  for (const each of [traffic?.stop(), load?.end(), routers?.end()]) await each;
  await keeper?.remove();
  receiver?.close();
  await versions?.end();
});

/** Requests go by both routers to the workers of both hosts, whichever these are by then. */
async function requestsGoOn(): Promise<void> {
  const since = load.sent;
  await eventually(async () => {
    const workers = await balanced.workers();
    expect(new Set(workers.map(({ hostId }) => hostId)).size).toBe(WORKERS);
    const late = load.of('right').filter(({ index }) => index >= since);
    const seen = late.map(({ router, workerId }) => `${workerId} by ${router}`);
    expect(seen).toEqual(expect.arrayContaining(workers.flatMap(({ id }) => [`${id} by 0`, `${id} by 1`])));
  }, WAIT);
}

/** Jobs and requests go on, and what one router has is known to the other. */
async function allGoesOn(): Promise<void> {
  await Promise.all([requestsGoOn(), traffic.goesOn(), crossRouters(dev(), caller.endpointId, new SeededRandom(SEED))]);
}

/** While jobs run and others wait, as in what follows. */
async function replace(names: readonly AppProcessName[], root: string): Promise<void> {
  await traffic.crowd();
  await versions.replace(names, root);
}

/** Where that takes longer than a lease, on a machine that has much else to do, jobs that ran there pay for it. */
async function replaceKeeper(root: string): Promise<void> {
  await traffic.crowd();
  const [fromMs, starts] = [systemClock.nowMs(), keeper.said('started').length];
  expect(await keeper.end('SIGTERM')).toBe(0);
  keeper.start(root);
  await eventually(() => expect(keeper.said('started').length).toBe(starts + 1), WAIT);
  const untilMs = systemClock.nowMs();
  if (untilMs - fromMs >= ATTEMPT_LEASE_MS) absences.push({ workerId: null, fromMs, untilMs });
}

test('all runs in the version before', async () => {
  await allGoesOn();
  expect(versions.runningRoots()).toEqual(Object.fromEntries(NAMES.map((name) => [name, previous])));
});

test('the database is migrated beside it', async () => {
  await versions.migrate();
  await allGoesOn();
});

test('controllers and management API are replaced', async () => {
  await replace(['controllers'], PRESENT);
  await replace(['management-api'], PRESENT);
  await allGoesOn();
});

test('a new router shares jobs and requests with an old one, at old agents', async () => {
  await replace(['job-router'], PRESENT);
  await allGoesOn();
});

test('a new agent finds the workers of the old one, and serves an old router and a new one', async () => {
  const [before] = (await balanced.workers()).filter(({ hostId }) => hostId === keeper.hostId);
  await replaceKeeper(PRESENT);
  await allGoesOn();
  const adopted = keeper.said('worker adopted').filter(({ isKnown }) => isKnown === true);
  expect(adopted.map(({ workerId }) => workerId)).toContain(before?.id);
  const lives = balanced.tokens().filter(({ workerId }) => workerId === before?.id);
  expect(new Set(lives.map(({ pid }) => pid)).size).toBe(1);
});

test('the last router is replaced, and an old agent serves new routers alone', async () => {
  await replace(['job-router-2'], PRESENT);
  await allGoesOn();
});

test('the last agent is replaced, and all is new', async () => {
  await replace(['worker-agent'], PRESENT);
  await allGoesOn();
  expect(versions.runningRoots()).toEqual(Object.fromEntries(NAMES.map((name) => [name, PRESENT])));
});

test('a router goes back beside a new one, and an agent that finds what the new one wrote', async () => {
  await Promise.all([replace(['job-router-2'], previous), replaceKeeper(previous)]);
  await allGoesOn();
  expect(versions.runningRoots()).toMatchObject({ 'job-router': PRESENT, 'job-router-2': previous });
});

test('controllers and management API go back beside the migrated database', async () => {
  await replace(['controllers', 'management-api'], previous);
  await allGoesOn();
});

test('no request failed, and each accepted job came to one end with what its worker made, and paid no attempt', async () => {
  await Promise.all([traffic.end(), load.end()]);
  const { tenant } = traffic;
  const away = absences.map(({ fromMs, untilMs }) => `${untilMs - fromMs} ms`).join(', ') || 'never';
  const counts = `${tenant.accepted} jobs, ${tenant.charges.size} charged; ${caller.putOff} calls put off`;
  process.stderr.write(`versions: ${counts}; an agent away for longer than a lease: ${away}\n`);
  expect(await traffic.chargedUnduly(absences)).toEqual([]);
  const executions = new Diary(join(versions.stack.home, 'diary.jsonl')).executions();
  expect(checkHistory({ accepted: tenant.entries, executions })).toEqual([]);
  expect(tenant.check()).toEqual([]);
  expect(caller.failures).toEqual([]);
  expect(load.failed()).toEqual([]);
});
