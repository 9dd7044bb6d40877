import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeCluster, NODE, RUNNING } from '../../../test/fake-cluster.js';
import { openOnCluster } from '../../../test/open-on-cluster.js';
import type { ContainerStart, PrintedBatch } from '../container-runtime.port.js';
import type { PodObject, PodReport } from './api/kube-objects.js';
import type { RuntimeError } from '../runtime-error.js';
import type { KubernetesRuntime } from './kubernetes-runtime.js';

const W1 = 'w1' as WorkerId;
const CREDENTIALS = { username: 'ci-puller', password: 'correct horse' };
const DENIED: PodReport = {
  phase: 'Pending',
  containerStatuses: [{ state: { waiting: { reason: 'ErrImagePull', message: '401 Unauthorized' } } }],
};
const START: ContainerStart = {
  labels: {
    ...{ hostId: 'host1' as HostId, workerId: W1, endpointId: 'endpoint1' as EndpointId },
    ...{ release: 1, image: 'r.io/a:1' },
  },
  ...{ args: [], env: {}, gpu: null, limits: { vcpus: 1, memoryBytes: 2 ** 20, diskBytes: null } },
};

let cluster: FakeCluster;
let clock: ManualClock;
let runtime: KubernetesRuntime;
let secrets: (readonly PodObject[])[];
let report: PodReport;

beforeEach(async () => {
  cluster = new FakeCluster();
  [secrets, report] = [[], RUNNING];
  cluster.kubelet = () => {
    secrets.push(cluster.all('secrets'));
    return report;
  };
  clock = new ManualClock();
  runtime = await openOnCluster(cluster, { clock });
});
afterEach(() => runtime.close());

const pullSecretsOf = (name: string): unknown => {
  const { imagePullSecrets } = (cluster.find(name)?.spec ?? {}) as { readonly imagePullSecrets?: unknown };
  return imagePullSecrets;
};

describe('a worker of a private image', () => {
  test('is started with what its node needs to ask the registry again, and that goes once it runs', async () => {
    await runtime.start({ ...START, credentials: CREDENTIALS });
    const [[secret] = []] = secrets;
    expect(pullSecretsOf('berth-w1')).toEqual([{ name: secret?.metadata.name }]);
    expect(secret).toMatchObject({
      type: 'kubernetes.io/dockerconfigjson',
      metadata: {
        labels: { 'berth.host': 'host1', 'berth.role': 'image' },
        ownerReferences: [{ kind: 'Node', uid: 'uid of node1' }],
      },
    });
    expect(cluster.all('secrets')).toEqual([]);
  });

  test('leaves nothing of it where it does not start', async () => {
    report = DENIED;
    const refused = runtime.start({ ...START, credentials: CREDENTIALS });
    await expect(refused).rejects.toMatchObject({ reason: 'image-denied' });
    expect(secrets).toEqual([[expect.objectContaining({ type: 'kubernetes.io/dockerconfigjson' })]]);
    expect([...cluster.all('pods'), ...cluster.all('secrets')]).toEqual([]);
  });

  test('that was left by an earlier life of the agent leaves nothing of it', async () => {
    await runtime.close();
    const labels = { 'berth.host': 'host1', 'berth.role': 'image' };
    cluster.put({ metadata: { name: 'berth-image-left', uid: 's', labels } }, 'secrets');
    runtime = await openOnCluster(cluster);
    expect(cluster.all('secrets')).toEqual([]);
  });
});

test('a worker of a public image has no credentials', async () => {
  await runtime.start(START);
  expect(secrets).toEqual([[]]);
  expect(pullSecretsOf('berth-w1')).toBeUndefined();
});

describe('a start that nobody wants any more', () => {
  test('is broken off while its node does not begin with the Pod, and leaves nothing', async () => {
    cluster.kubelet = () => undefined;
    const breaking = new AbortController();
    const refused = runtime.start({ ...START, credentials: CREDENTIALS }, { signal: breaking.signal });
    const end = expect(refused).rejects.toMatchObject({ reason: 'cancelled' });
    await clock.advance(0);
    expect(cluster.all('pods')).toHaveLength(1);
    breaking.abort();
    await end;
    expect([...cluster.all('pods'), ...cluster.all('secrets')]).toEqual([]);
  });

  test('leaves no Pod that was being made at that moment', async () => {
    const breaking = new AbortController();
    cluster.kubelet = () => {
      breaking.abort();
      return undefined;
    };
    const refused = runtime.start(START, { signal: breaking.signal });
    await expect(refused).rejects.toMatchObject({ reason: 'cancelled' });
    expect(cluster.all('pods')).toEqual([]);
  });

  test('is broken off while placeholders go', async () => {
    const metadata = { name: 'placeholder-e1-0', uid: 'p', labels: { 'berth.role': 'placeholder' } };
    cluster.put({ metadata, spec: { nodeName: 'node1' } } as PodObject);
    const breaking = new AbortController();
    const refused = runtime.start(START, { signal: breaking.signal });
    breaking.abort();
    await expect(refused).rejects.toMatchObject({ reason: 'cancelled' });
    expect(cluster.find('berth-w1')).toBeUndefined();
  });
});

test('an image that nobody wants any more while the node is looked at is not pulled', async () => {
  cluster.kubelet = () => undefined;
  const breaking = new AbortController();
  const refused = runtime.prepare({ image: 'r.io/a:1', credentials: CREDENTIALS }, { signal: breaking.signal });
  const end = expect(refused).rejects.toMatchObject({ reason: 'cancelled' });
  breaking.abort();
  await end;
  expect([...cluster.all('pods'), ...cluster.all('secrets')]).toEqual([]);
});

test('a Pod that vanished while the watch heard nothing is one that the cluster took', async () => {
  await runtime.start(START);
  cluster.remove('berth-w1', { isTold: false });
  await clock.advance(91_000);
  expect(await runtime.inspect(W1)).toMatchObject({
    state: {
      kind: 'ended',
      exit: { code: null, cause: 'evicted', detail: 'taken away by the cluster: its Pod is gone' },
    },
  });
});

describe('a node that is not what it was when its agent began', () => {
  const IMAGE = { image: 'r.io/a:1', credentials: null };
  const NEW_NODE = { ...NODE, metadata: { ...NODE.metadata, uid: 'another' } };
  const reasonOf = async (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'it was done',
      ({ message, reason }: RuntimeError) => [reason, message],
    );

  test.each([
    ['is gone', null, 'The node node1 is gone from its cluster.'],
    [
      'was made anew',
      NEW_NODE,
      "The node node1 was made anew in its cluster: its agent has to be, too (delete the agent's Pod).",
    ],
  ])('because it %s gets neither worker nor image, and is told as one without room', async (_, node, words) => {
    cluster.node = node;
    expect(await reasonOf(runtime.start(START))).toEqual(['no-room', words]);
    expect(await reasonOf(runtime.prepare(IMAGE))).toEqual(['no-room', words]);
    expect(cluster.all('pods')).toEqual([]);
  });

  test('gets none either where only the process of its agent began again', async () => {
    await runtime.close();
    runtime = await openOnCluster(cluster, { hostId: 'node-of-before' as HostId });
    expect(await reasonOf(runtime.start(START))).toMatchObject(['no-room', expect.stringContaining('made anew')]);
  });

  test.each(['worker', 'image'])(
    'takes a Pod of a %s that is on its way away, and nothing is wrong with that',
    async (role) => {
      cluster.kubelet = ({ metadata }) => {
        queueMicrotask(() => {
          cluster.remove(metadata.name);
        });
        return undefined;
      };
      const call = role === 'worker' ? runtime.start(START) : runtime.prepare(IMAGE);
      expect(await reasonOf(call)).toMatchObject(['no-room', expect.stringContaining('The cluster took')]);
    },
  );
});

describe('a copy of the Pod of a worker', () => {
  const copyOf = (name: string, more: Partial<PodObject['metadata']> = {}): PodObject => {
    const found = cluster.find('berth-w1');
    return { ...found, metadata: { ...found?.metadata, name, uid: `uid of ${name}`, ...more } };
  };

  test('is not that worker and goes, whether it is there before its agent or comes later', async () => {
    const original = await runtime.start(START);
    cluster.put(copyOf('later'));
    await clock.advance(0);
    await runtime.close();
    cluster.put(copyOf('before'));
    runtime = await openOnCluster(cluster, { clock });
    await clock.advance(0);
    expect(cluster.all('pods').map(({ metadata }) => metadata.name)).toEqual(['berth-w1']);
    expect(await runtime.list()).toEqual([original]);
  });

  test('is not listed either while it cannot be removed, which is tried again after a minute', async () => {
    const original = await runtime.start(START);
    cluster.refused = ['DELETE pods/copy'];
    cluster.asked.length = 0;
    cluster.put(copyOf('copy'));
    await clock.advance(0);
    cluster.bookmark();
    cluster.put(copyOf('berth-w1', { uid: original.containerId }));
    await clock.advance(0);
    expect(await runtime.list()).toEqual([original]);
    expect(cluster.asked).toEqual(['DELETE pods/copy']);
    await clock.advance(61_000);
    cluster.refused = [];
    cluster.put(copyOf('berth-w1', { uid: original.containerId }));
    await clock.advance(0);
    expect(cluster.find('copy')).toBeUndefined();
  });

  test('that goes already, and one of a Pod that makes its node pull, are left alone', async () => {
    await runtime.start(START);
    cluster.asked.length = 0;
    cluster.put(copyOf('going', { deletionTimestamp: '2026-06-01T12:00:30Z' }));
    cluster.put(copyOf('pull', { labels: { 'berth.host': 'host1', 'berth.role': 'image' } }));
    await clock.advance(0);
    expect(cluster.asked).toEqual([]);
    expect(await runtime.list()).toHaveLength(1);
  });
});

describe('what a kubelet says in place of a log', () => {
  const PRINTED = ['failed to try resolving symlinks in path "/x"', 'done'];
  const LOG = PRINTED.map((line, second) => `2026-06-01T12:00:0${String(second)}.5Z ${line}\n`).join('');
  let told: (readonly unknown[])[];

  beforeEach(async () => {
    told = [];
    await runtime.close();
    const warn = (...words: readonly unknown[]): void => void told.push(words);
    runtime = await openOnCluster(cluster, { clock, logger: { ...silentLogger, warn } });
    await runtime.start(START);
  });

  const linesOf = async (batches: AsyncIterable<PrintedBatch>): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const batch of batches) lines.push(...batch.lines.map(({ text }) => text));
    return lines;
  };

  /** What is printed until the worker has ended. */
  const followed = async (): Promise<readonly string[]> => {
    const found = cluster.find('berth-w1');
    if (found !== undefined) cluster.put({ ...found, status: { phase: 'Succeeded' } });
    await clock.advance(0);
    return linesOf(runtime.follow(W1, null, new AbortController().signal));
  };

  const WORDS = [
    'failed to try resolving symlinks in path "/var/log/pods/berth-workers_berth-w1/worker/0.log": lstat: no such file',
    'unable to retrieve container logs for containerd://0123456789abcdef',
  ];
  test.each(WORDS)('is no line of its worker, and stands in the log of the agent: %s', async (words) => {
    cluster.log = words;
    expect([await runtime.logs(W1, 20), await followed()]).toEqual([[], []]);
    const line = ['a node has words of its own in place of the log of a worker', { workerId: 'w1', words }];
    expect(told).toEqual([line, line]);
  });

  test('is told once of a worker that is followed while it runs, however often the question is repeated', async () => {
    cluster.log = WORDS[0] ?? '';
    const leaves = new AbortController();
    const reading = linesOf(runtime.follow(W1, null, leaves.signal));
    await clock.advance(10_000);
    leaves.abort();
    expect(await reading).toEqual([]);
    expect(cluster.asked.filter((question) => question.endsWith('/log')).length).toBeGreaterThan(2);
    expect(told).toHaveLength(1);
  });

  test('is left out also before and after what the worker has printed', async () => {
    cluster.log = `${WORDS[1] ?? ''}\n${LOG}${WORDS[0] ?? ''}\n`;
    expect([await runtime.logs(W1, 20), await followed()]).toEqual([PRINTED, PRINTED]);
  });

  test('is not taken for what the worker itself has printed in the same words', async () => {
    cluster.log = LOG;
    expect([await runtime.logs(W1, 20), await followed()]).toEqual([PRINTED, PRINTED]);
    expect(told).toEqual([]);
  });
});
