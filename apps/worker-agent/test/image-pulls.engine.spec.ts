import type { AccountId, EndpointId, ObservedWorker, WorkerId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import { ImageRegistry, makeSmallImage, useContainerEngine, type SavedImage } from '@berth/testing/containers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import Dockerode from 'dockerode';
import type { DockerRuntime } from '../src/runtimes/docker/docker-runtime.js';
import { RuntimeError } from '../src/runtimes/runtime-error.js';
import { exampleWorker, useAgents } from './agent-bench.js';
import { openDocker } from './open-docker.js';
import { W1, W2 } from './worker-bench.js';

const SETUP_MS = 300_000;
const TEST_TIMEOUT_MS = 240_000;
const SLOW = { deadlineMs: 90_000 };
const LOGIN = { username: 'ci-puller', password: 'correct horse' };

const fixture = useContainerEngine({ hasBaseImage: true });
const open = new ImageRegistry();
const closed = new ImageRegistry(LOGIN);
let image: SavedImage;

beforeAll(async () => {
  image = await makeSmallImage(fixture.engine);
  await Promise.all([open.start(), closed.start()]);
}, SETUP_MS);
beforeEach(async () => {
  for (const registry of [open, closed]) registry.requests.length = 0;
  const engine = new Dockerode({ socketPath: fixture.engine.socketPath });
  for (const { RepoTags } of await engine.listImages()) {
    for (const tag of RepoTags ?? []) if (tag.startsWith('127.')) await engine.getImage(tag).remove({ force: true });
  }
});
afterAll(() => Promise.all([open.stop(), closed.stop()]));

/** As a tenant may give them: what the engine, or a path of its interface, would make of each is nobody's business. */
const ODD_NAMES = [
  ...['REGISTRY/Team/Worker:1', 'REGISTRY/team/worker@sha256:abc', `REGISTRY/team/worker@sha256:${'a'.repeat(63)}`],
  ...[`REGISTRY/${'x'.repeat(10_000)}:1`, `REGISTRY/team/worker:${'t'.repeat(129)}`, 'REGISTRY/тeam/worker:1'],
  ...[
    'REGISTRY/team/worker/',
    'REGISTRY//team/worker',
    'REGISTRY/team/worker:',
    'REGISTRY/team/worker@',
    ':1',
    '@',
    '/',
  ],
  ...[
    'http://REGISTRY/team/worker:1',
    'https://REGISTRY/team/worker',
    'localhost/',
    'host:notaport/x',
    '-x',
    'a b',
    '',
  ],
  ...['..', '../containers/json', 'team/../../info', 'json?all=1', 'team/worker#', 'team%2f..%2fworker', 'a\u0000b'],
];

const authorizationsAt = ({ requests }: ImageRegistry): readonly string[] => [
  ...new Set(requests.map(({ authorization }) => authorization ?? 'none')),
];

describe('the docker runtime', () => {
  let runtime: DockerRuntime;
  const prepare = (name: string, credentials: typeof LOGIN | null = null): Promise<void> =>
    runtime.prepare({ image: name, credentials });

  beforeAll(async () => {
    runtime = await openDocker(fixture.engine.socketPath, 'host2');
  });
  afterAll(() => runtime.close());

  test('pulls an image that is not here, and asks nobody for one that is', async () => {
    const name = open.serve('team/worker', '1', image);
    const percents: number[] = [];
    await runtime.prepare({ image: name, credentials: null }, { onPercent: (percent) => percents.push(percent) });
    expect(percents.at(-1)).toBe(100);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect((await runtime.inventory()).images).toContain(name);
    const asked = open.requests.length;
    await prepare(name);
    expect(open.requests).toHaveLength(asked);
  });

  test.each(ODD_NAMES)('says that no image has the name %s, and asks nobody', async (name) => {
    open.requests.length = 0;
    const refusal = await prepare(
      name.replace('REGISTRY', open.serve('team/worker', '1', image).split('/')[0] ?? ''),
    ).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RuntimeError);
    expect(refusal).toMatchObject({
      reason: 'image-missing',
      message: expect.stringMatching(/is no name of an image/),
    });
    expect(open.requests).toEqual([]);
  });

  test('sends credentials to the registry of the image only', async () => {
    const [theirs, ours] = [open.serve('team/worker', '2', image), closed.serve('team/worker', '2', image)];
    await Promise.all([prepare(theirs), prepare(ours, LOGIN)]);
    const { username, password } = LOGIN;
    expect(authorizationsAt(open)).toEqual(['none']);
    expect(authorizationsAt(closed)).toEqual(['none', `Basic ${btoa(`${username}:${password}`)}`]);
  });

  test('says what is wrong: no such tag, wrong credentials, none, a layer that is lost', async () => {
    const name = closed.serve('team/worker', '3', image);
    const lost = open.serve('team/lost', '1', image);
    open.loseLayers('team/lost');
    await expect(prepare(`${open.address}/team/worker:none`)).rejects.toMatchObject({
      reason: 'image-missing',
      message: expect.stringContaining('manifest unknown') as unknown,
    });
    const denied = { reason: 'image-denied', isTemporary: false };
    await expect(prepare(name, { ...LOGIN, password: 'wrong' })).rejects.toMatchObject(denied);
    await expect(prepare(name)).rejects.toMatchObject(denied);
    await expect(prepare(lost)).rejects.toMatchObject({ reason: 'image-unreachable', isTemporary: true });
    expect((await runtime.inventory()).images).not.toContain(lost);
  });

  /** The same files, and so as large, as an image of its own. */
  const another = (one: SavedImage): SavedImage => {
    const config = JSON.parse(one.config.toString()) as object;
    return { ...one, config: Buffer.from(JSON.stringify({ ...config, comment: 'another' })) };
  };
  const as = (accountId: string, credentials: typeof LOGIN | null) => ({
    accountId: accountId as AccountId,
    credentials,
  });
  const digestOf = async (name: string): Promise<string> => {
    const engine = new Dockerode({ socketPath: fixture.engine.socketPath });
    return (await engine.getImage(name).inspect()).RepoDigests[0]?.split('@')[1] ?? '';
  };

  test('starts a private image that is here for the accounts that its registry let in, and for no other', async () => {
    const name = closed.serve('team/secret', '1', image);
    const denied = { reason: 'image-denied' };
    await runtime.prepare({ image: name, ...as('anna', LOGIN) });
    await expect(runtime.prepare({ image: name, ...as('bert', null) })).rejects.toMatchObject(denied);
    const wrong = { ...LOGIN, password: 'wrong' };
    await expect(runtime.prepare({ image: name, ...as('bert', wrong) })).rejects.toMatchObject(denied);
    const engine = new Dockerode({ socketPath: fixture.engine.socketPath });
    const { Id: id } = await engine.getImage(name).inspect();
    await expect(runtime.prepare({ image: id, ...as('bert', null) })).rejects.toMatchObject({
      reason: 'image-unreachable',
    });
    const digest = await digestOf(name);
    await expect(runtime.prepare({ image: name, digest, ...as('bert', null) })).rejects.toMatchObject(denied);
    const asked = closed.requests.length;
    await runtime.prepare({ image: name, ...as('anna', LOGIN) });
    expect(closed.requests).toHaveLength(asked);
    await runtime.prepare({ image: name, digest, ...as('carl', LOGIN) });
    expect(closed.requests.length).toBeGreaterThan(asked);
    // The engine reads what the image is made for, and none of its layers.
    const blobs = closed.requests.slice(asked).filter(({ url }) => url.includes('/blobs/'));
    expect(blobs.length).toBeLessThanOrEqual(1);
  });

  test('pulls by digest what the name stood for, though it stands for something else by now', async () => {
    const name = open.serve('team/moving', '1', image);
    await prepare(name);
    const digest = await digestOf(name);
    const engine = new Dockerode({ socketPath: fixture.engine.socketPath });
    await engine.getImage(name).remove({ force: true });
    open.serve('team/moving', '1', { ...image, layers: image.layers.slice(0, 1) });
    await runtime.prepare({ image: name, digest, credentials: null });
    expect(open.requests.some(({ url }) => url.endsWith(`/manifests/${digest}`))).toBe(true);
    const { RepoDigests } = await engine.getImage(`${name.replace(/:1$/, '')}@${digest}`).inspect();
    expect(RepoDigests.some((each) => each.endsWith(digest))).toBe(true);
    for (const each of RepoDigests) await engine.getImage(each).remove({ force: true });
  });

  test('pulls once what is asked for many times at once', async () => {
    const name = open.serve('team/worker', '7', image);
    await Promise.all(Array.from({ length: 5 }, () => prepare(name)));
    const blobs = open.requests.filter(({ url }) => url.includes('/blobs/')).map(({ url }) => url);
    expect(new Set(blobs).size).toBe(blobs.length);
  });

  test('removes the image that was used longest ago when images take more than they may', async () => {
    const clock = new ManualClock(systemClock.nowMs());
    const small = await openDocker(fixture.engine.socketPath, 'host3', { imagesBytesMax: 1, clock });
    const [old, next] = [open.serve('team/old', '1', image), open.serve('team/next', '1', another(image))];
    await small.prepare({ image: old, credentials: null });
    await clock.advance(11 * 60_000);
    await small.prepare({ image: next, credentials: null });
    await eventually(async () => expect((await runtime.inventory()).images).not.toContain(old));
    expect((await runtime.inventory()).images).toContain(next);
    await small.close();
  });

  test('gives up a pull, and the next one goes on', async () => {
    const name = open.serve('team/worker', '4', image);
    const goOn = open.holdLayers();
    const giveUp = new AbortController();
    const given = runtime.prepare({ image: name, credentials: null }, { signal: giveUp.signal });
    await eventually(() => expect(open.requests.filter(({ url }) => url.includes('/blobs/'))).toHaveLength(3));
    giveUp.abort();
    await expect(given).rejects.toMatchObject({ reason: 'cancelled' });
    goOn(1);
    await prepare(name);
  });
});

describe('an agent', () => {
  const { control, start } = useAgents();
  const startAgent = (): void => {
    start({ BERTH_RUNTIME: 'docker', BERTH_DOCKER_SOCKET: fixture.engine.socketPath });
  };
  const worker = (workerId: WorkerId, name: string, credentials?: typeof LOGIN) => ({
    ...exampleWorker(workerId, name, ''),
    ...(credentials === undefined ? {} : { registryCredentials: credentials }),
  });
  /** The first report that says so of the worker. */
  const find = (workerId: WorkerId, isIt: (observed: ObservedWorker) => boolean): ObservedWorker => {
    for (const { workers } of control.reports) {
      const observed = workers.find((each) => each.workerId === workerId);
      if (observed !== undefined && isIt(observed)) return observed;
    }
    throw new Error(`the last report of ${workerId} is ${JSON.stringify(control.observed(workerId))}`);
  };
  const told = (...wanted: Parameters<typeof find>): Promise<ObservedWorker> => eventually(() => find(...wanted), SLOW);

  test(
    'tells how much of an image is here while it comes, and then starts it',
    async () => {
      const goOn = open.holdLayers();
      control.desired = [worker(W1, open.serve('team/worker', '5', image))];
      startAgent();
      let share = 0;
      const later = await eventually(
        () => {
          share = Math.min(0.9, share + 0.01);
          goOn(share);
          return find(W1, ({ imagePercent = 0 }) => imagePercent > 5);
        },
        { ...SLOW, intervalMs: 200 },
      );
      expect(later).toMatchObject({
        phase: 'preparing',
        reason: `the image is being pulled, ${String(later.imagePercent)} %`,
      });
      // What is downloaded is half of the work.
      expect(later.imagePercent).toBeLessThan(50);
      goOn(1);
      expect(await told(W1, ({ startedAtMs }) => startedAtMs !== null)).not.toHaveProperty('imagePercent');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'has images ready ahead of their workers, with the credentials of their account, and says which it cannot have',
    async () => {
      const ahead = { endpointId: 'later' as EndpointId, accountId: 'anna' as AccountId };
      const name = closed.serve('team/worker', '8', image);
      control.imagesAhead = [
        { ...ahead, release: 2, image: name, registryCredentials: LOGIN },
        { ...ahead, release: 3, image: `${open.address}/team/worker:none` },
      ];
      startAgent();
      const inventory = await eventually(
        () => {
          const last = control.reports.at(-1)?.inventory;
          expect(last?.imagesAhead?.map(({ state }) => state)).toEqual(['ready', 'failed']);
          return last;
        },
        { deadlineMs: 90_000 },
      );
      expect(inventory?.images).toContain(name);
      expect(inventory?.imagesAhead?.[1]?.reason).toMatch(/^image-missing: /);
      const asked = closed.requests.length;
      control.desired = [{ ...worker(W1, name, LOGIN), accountId: ahead.accountId }];
      await told(W1, ({ startedAtMs }) => startedAtMs !== null);
      expect(closed.requests).toHaveLength(asked);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'says why an image cannot be had',
    async () => {
      const name = closed.serve('team/worker', '6', image);
      control.desired = [
        worker(W1, `${open.address}/team/worker:none`),
        worker(W2, name, { ...LOGIN, password: 'wrong' }),
      ];
      startAgent();
      const missing = await told(W1, ({ failure }) => failure === 'image');
      const denied = await told(W2, ({ failure }) => failure === 'image');
      const why = 'could not be pulled';
      expect(missing.reason).toContain(
        `: image-missing: Image ${open.address}/team/worker:none ${why}: manifest unknown`,
      );
      expect(denied.reason).toContain(`: image-denied: Image ${name} ${why}: unauthorized`);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'asks a registry that is away again, later and later, until it is back',
    async () => {
      const name = open.serve('team/worker', '7', image);
      await open.stop();
      control.desired = [worker(W1, name)];
      startAgent();
      const delayedAfter = (failures: number): Promise<ObservedWorker> =>
        told(W1, ({ failedStarts, nextStartAtMs }) => failedStarts >= failures && nextStartAtMs !== undefined);
      const first = await delayedAfter(1);
      const later = await delayedAfter(first.failedStarts + 2);
      expect(first).toMatchObject({ phase: 'waiting', failure: 'image' });
      expect(first.reason).toContain('image-unreachable');
      expect(Number(later.nextStartAtMs) - Number(first.nextStartAtMs)).toBeGreaterThanOrEqual(2_000 + 4_000);
      await open.start();
      await told(W1, ({ startedAtMs }) => startedAtMs !== null);
    },
    TEST_TIMEOUT_MS,
  );
});
