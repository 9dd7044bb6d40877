import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { RUNNING } from '../../../test/fake-cluster.js';
import type { ContainerStart } from '../container-runtime.port.js';
import type { NodeObject, PodObject, PodReport } from './api/kube-objects.js';
import { imagePod } from './images/image-pod.js';
import { nodeRoom, type NodeFacts } from './node/node-room.js';
import { podRequest } from './node/pod-request.js';
import { parseQuantity } from './node/quantities.js';
import { exitOf } from './pods/pod-end.js';
import { podFailure } from './pods/pod-failure.js';
import { workerPod, type PodSurroundings } from './pods/pod-spec.js';

const podOf = (status: PodReport, more: Partial<PodObject['metadata']> = {}): PodObject => ({
  metadata: { name: 'berth-w1', uid: 'u1', ...more },
  status,
});
const LIMITED = { resources: { limits: { cpu: '2' } } };
const SEEN = { isGone: false, isOwnDoing: false };

describe('a quantity', () => {
  test.each([
    ['2', 2],
    ['1930m', 1.93],
    ['24632896Ki', 24632896 * 1024],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['12E', 12e18],
    ['1e3', 1_000],
    ['much', 0],
    [undefined, 0],
  ])('%s is %d', (text, value) => {
    expect(parseQuantity(text)).toBe(value);
  });
});

describe('the end of a Pod', () => {
  const terminated = { exitCode: 137, reason: 'Error', finishedAt: '2026-06-01T12:00:10Z' };
  const ended: PodReport = { phase: 'Failed', containerStatuses: [{ state: { terminated } }] };

  test.each([
    ['by itself', podOf(ended), 'killed'],
    [
      'by the node that is short of memory',
      podOf({ ...ended, reason: 'Evicted', message: 'The node was low on resource: memory.' }),
      'evicted',
    ],
    [
      'by its own disk limit',
      podOf({
        ...ended,
        reason: 'Evicted',
        message: 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.',
      }),
      'killed',
    ],
    ['by a node that shuts down', podOf({ ...ended, reason: 'Terminated', message: 'node shutdown' }), 'evicted'],
    [
      'by a drain',
      podOf({ ...ended, conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }] }),
      'evicted',
    ],
    [
      'by a deletion',
      podOf(ended, { deletionTimestamp: '2026-06-01T12:00:30Z', deletionGracePeriodSeconds: 30 }),
      'evicted',
    ],
    [
      'before a deletion',
      podOf(ended, { deletionTimestamp: '2026-06-01T12:01:00Z', deletionGracePeriodSeconds: 30 }),
      'killed',
    ],
    ['while nobody watched', podOf({ phase: 'Failed' }), 'unknown'],
  ])('%s', (_, pod, cause) => {
    expect(exitOf(pod, SEEN).cause).toBe(cause);
  });

  test.each([
    ['while it ran', podOf(RUNNING), 'evicted'],
    ['before its kubelet had said a word', podOf({ phase: 'Pending' }), 'evicted'],
    ['after its program had ended', podOf(ended), 'killed'],
    ['after its kubelet had given it up', podOf({ phase: 'Failed', reason: 'DeadlineExceeded' }), 'unknown'],
  ])('that nobody saw, for it is gone that was there %s', (_, pod, cause) => {
    expect(exitOf(pod, { ...SEEN, isGone: true }).cause).toBe(cause);
  });

  test('that nobody saw is none that the cluster took away where its agent has asked for it', () => {
    expect(exitOf(podOf(RUNNING), { isGone: true, isOwnDoing: true }).cause).toBe('unknown');
  });

  test('that the agent asked for is none that the cluster took away', () => {
    const pod = podOf(ended, { deletionTimestamp: '2026-06-01T12:00:30Z', deletionGracePeriodSeconds: 30 });
    expect(exitOf(pod, { ...SEEN, isOwnDoing: true })).toMatchObject({ code: 137, cause: 'killed' });
  });
});

describe('a Pod that will not start', () => {
  const waiting = (reason: string, message = ''): PodReport => ({
    phase: 'Pending',
    containerStatuses: [{ state: { waiting: { reason, message } } }],
  });

  test.each([
    ['a name that is none', waiting('InvalidImageName'), 'image-missing'],
    ['no such image', waiting('ErrImagePull', 'rpc error: code = NotFound: r.io/a:1: not found'), 'image-missing'],
    ['a login that is refused', waiting('ErrImagePull', 'unexpected status: 401 Unauthorized'), 'image-denied'],
    [
      'a registry that is away',
      waiting('ImagePullBackOff', 'dial tcp 10.0.0.1:443: connect: refused'),
      'image-unreachable',
    ],
    ['a full disk', waiting('ErrImagePull', 'write /x: no space left on device'), 'disk-full'],
    ['a container that cannot be made', waiting('CreateContainerError', 'bad'), 'start-failed'],
    ['too few processors', { phase: 'Failed', reason: 'OutOfcpu' }, 'no-room'],
    ['too little memory', { phase: 'Failed', reason: 'OutOfmemory' }, 'out-of-memory'],
    ['too few GPUs', { phase: 'Failed', reason: 'OutOfnvidia.com/gpu' }, 'no-such-device'],
    [
      'GPUs that failed',
      { phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'Allocate failed for nvidia.com/gpu' },
      'no-such-device',
    ],
    ['a node that shuts down', { phase: 'Failed', reason: 'NodeShutdown' }, 'runtime-unavailable'],
  ])('for %s', (_, status, reason) => {
    expect(podFailure(podOf(status), 'r.io/a:1')?.reason).toBe(reason);
  });

  test('is none that is only not there yet', () => {
    expect(podFailure(podOf(waiting('ContainerCreating')), 'i')).toBeNull();
    expect(podFailure(podOf({ phase: 'Pending' }), 'i')).toBeNull();
  });
});

describe('what a Pod was promised', () => {
  const needs = (cpu: string, more: object = {}): object => ({ resources: { requests: { cpu } }, ...more });
  const sidecar = (cpu: string): object => needs(cpu, { restartPolicy: 'Always' });

  test.each([
    ['its containers, by their limits where they ask for nothing', { containers: [needs('1'), LIMITED] }, 3],
    ['with those that stand beside them', { containers: [needs('1')], initContainers: [sidecar('500m')] }, 1.5],
    [
      'or the one before them that needs most',
      { containers: [needs('1')], initContainers: [needs('3'), needs('2')] },
      3,
    ],
    [
      'with who stands beside that one already, and not with who comes later',
      { containers: [needs('1')], initContainers: [sidecar('1'), needs('4'), sidecar('2')] },
      5,
    ],
    [
      'and what it costs its node to run it',
      { containers: [needs('1')], overhead: { cpu: '250m', memory: '1Gi' } },
      1.25,
    ],
    ['nothing', {}, 0],
  ])('is %s', (_, spec, cpus) => {
    expect(podRequest({ metadata: { name: 'p', uid: 'u' }, spec }, 'cpu')).toBe(cpus);
  });
});

describe('what a node has for workers', () => {
  const node: NodeObject = {
    metadata: {
      ...{ name: 'node1', uid: 'n1' },
      labels: {
        ...{ 'nvidia.com/gpu.product': 'NVIDIA-GeForce-RTX-4090', 'nvidia.com/gpu.memory': '24564' },
        ...{ 'nvidia.com/cuda.runtime-version.major': '12', 'nvidia.com/cuda.runtime-version.minor': '8' },
      },
    },
    status: {
      allocatable: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100G', 'nvidia.com/gpu': '2' },
      images: [{ names: ['docker.io/library/busybox:1', 'docker.io/library/busybox@sha256:1'] }],
    },
  };
  const facts: NodeFacts = {
    ...{ vcpus: null, simulatedGpus: null, gpuType: null },
    reserve: { memoryBytes: null, diskBytes: null },
  };
  const other = (phase: string): PodObject => ({
    metadata: { name: 'other', uid: 'o' },
    spec: {
      containers: [{ resources: { requests: { cpu: '500m', memory: '2Gi' }, limits: { 'nvidia.com/gpu': '1' } } }],
    },
    status: { phase },
  });

  test('is what it has for Pods, less what those of others were promised that still run', () => {
    const { inventory } = nodeRoom(node, [other('Running'), other('Succeeded')], { facts, prepared: ['a/b:1'] });
    expect(inventory).toMatchObject({
      ...{ vcpus: 7.5, isOvercommitted: false, memoryBytes: 30 * 2 ** 30, diskBytes: 100e9 },
      gpus: [{ index: 0, typeId: 'NVIDIA GeForce RTX 4090', memoryBytes: 24564 * 2 ** 20 }],
      ...{ cudaVersion: '12.8', areGpusSimulated: false, runtime: 'kubernetes', images: ['busybox:1', 'a/b:1'] },
    });
    expect(inventory.canPause).toBeUndefined();
  });

  test('is less by what stands beside the containers of others, and by what it costs to run them', () => {
    const initContainers = [{ restartPolicy: 'Always', resources: { requests: { memory: '1Gi' } } }];
    const pod = { ...other('Running'), spec: { ...other('Running').spec, initContainers, overhead: { cpu: '1' } } };
    const { inventory } = nodeRoom(node, [pod], { facts, prepared: [] });
    expect(inventory).toMatchObject({ vcpus: 6.5, memoryBytes: 29 * 2 ** 30 });
  });

  test('asks the node for a share where more processors are reported than there are', () => {
    expect(nodeRoom(node, [], { facts: { ...facts, vcpus: 16 }, prepared: [] })).toMatchObject({
      vcpuShare: 0.5,
      inventory: { vcpus: 16, isOvercommitted: true },
    });
  });
});

describe('the Pod of a worker', () => {
  const around: PodSurroundings = {
    ...{ namespace: 'ns', nodeName: 'node1', nodeUid: 'n1', runtimeClass: null, priorityClass: null, graceSeconds: 30 },
    ...{ tolerations: [], bridge: null, volumes: { name: 'claim', folder: '/volumes' }, cores: 4, vcpuShare: 1 },
    ...{ gpus: { names: ['0'], areReal: true }, pullSecret: null },
  };
  const start: ContainerStart = {
    labels: {
      ...{ hostId: 'h' as HostId, workerId: 'w' as WorkerId, endpointId: 'e' as EndpointId },
      ...{ release: 1, image: 'r.io/a:1', imageDigest: `sha256:${'0'.repeat(64)}` },
    },
    args: ['$(HOME)', '$x'],
    env: { NVIDIA_VISIBLE_DEVICES: 'all', PRICE: '$5' },
    limits: { vcpus: 8, memoryBytes: 2 ** 30, diskBytes: 1e9 },
    gpu: { typeId: 'NVIDIA L4', count: 1 },
  };
  const first = (pod: ReturnType<typeof workerPod>) => pod.spec?.containers[0];

  test('takes words as they are, its image by digest, and as many processors as there are', () => {
    expect(first(workerPod(start, around))).toMatchObject({
      image: `r.io/a@sha256:${'0'.repeat(64)}`,
      args: ['$$(HOME)', '$$x'],
      resources: { limits: { cpu: '4000m', 'nvidia.com/gpu': '1', 'ephemeral-storage': '1000000000' } },
    });
  });

  test('bears the taints that its agent bears, as the Pod of its image does, and that of nodes with GPUs', () => {
    const tolerations = [{ key: 'pool', operator: 'Equal', value: 'gpu', effect: 'NoExecute' }];
    const all = [{ key: 'nvidia.com/gpu', operator: 'Exists' }, ...tolerations];
    expect(workerPod(start, { ...around, tolerations }).spec?.tolerations).toEqual(all);
    const pull = { metadata: { name: 'p' }, program: '/p', secretName: null, deadlineS: 1 };
    const image = imagePod({ image: 'r.io/a:1', credentials: null }, { ...pull, around: { ...around, tolerations } });
    expect(image.spec?.tolerations).toEqual(all);
  });

  test('does not let a tenant say which GPUs it sees', () => {
    expect(first(workerPod(start, around))?.env).toEqual([{ name: 'PRICE', value: '$$5' }]);
    const without = first(workerPod({ ...start, gpu: null }, around))?.env;
    expect(without).toContainEqual({ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' });
  });

  test('has its network volume as a folder of the claim, and of nothing else', () => {
    const mounted = first(workerPod({ ...start, volumeFolder: '/volumes/account/volume' }, around));
    expect(mounted?.volumeMounts).toContainEqual({
      name: 'volume',
      mountPath: '/runpod-volume',
      subPath: 'account/volume',
    });
    for (const volumeFolder of ['/elsewhere', '/volumes', '/volumes/../etc']) {
      expect(() => workerPod({ ...start, volumeFolder }, around)).toThrow(/in no claim/);
    }
    expect(() => workerPod({ ...start, volumeFolder: '/v' }, { ...around, volumes: null })).toThrow(/in no claim/);
  });
});
