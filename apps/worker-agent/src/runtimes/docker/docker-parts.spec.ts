import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type Dockerode from 'dockerode';
import type { ContainerStart } from '../container-runtime.port.js';
import { containerOptions, fromEngineLabels, gpuNamesOf } from './container-options.js';
import { fromEngineError, fromPullError, fromStartError, isDiskLimitRefusal } from './engine-errors.js';
import { confinementRules } from './confinement/confinement-rules.js';
import { textOfFrames } from './log-frames.js';
import { nameServersIn } from './confinement/name-servers.js';
import { registryOf } from '../images/image-name.js';
import { pullImage } from './images/pull-image.js';

/** An error as the engine's client throws it. */
const engineError = (message: string, statusCode?: number): Error =>
  Object.assign(new Error(`(HTTP code ${String(statusCode)}) ${message}`), { statusCode, json: { message } });

describe('errors of a pull', () => {
  test.each([
    ['manifest for python:9 not found: manifest unknown', 404, 'image-missing'],
    ["pull access denied for x, repository does not exist or may require 'docker login'", 404, 'image-missing'],
    ['no matching manifest for linux/arm64 in the manifest list entries', 404, 'image-missing'],
    ['unauthorized: authentication required', 500, 'image-denied'],
    ['Head "http://registry/v2/x/manifests/1": no basic auth credentials', 500, 'image-denied'],
    ['dial tcp 10.1.2.3:443: connect: permission denied', 500, 'image-unreachable'],
    ['unknown blob', 200, 'image-unreachable'],
    ['invalid reference format', 400, 'image-missing'],
    ['toomanyrequests: You have reached your pull rate limit', 429, 'image-unreachable'],
    ['Get "https://registry/v2/": dial tcp: lookup registry: no such host', 500, 'image-unreachable'],
    ['write /var/lib/docker/tmp: no space left on device', 500, 'disk-full'],
  ])('%s', (message, status, reason) => {
    expect(fromPullError(engineError(message, status), 'x')).toMatchObject({ reason });
    // The same text may also come within the answer, where it has no status.
    expect(fromPullError(new Error(message), 'x')).toMatchObject({ reason });
  });
});

describe('errors of a start', () => {
  test.each([
    ['No such image: x', 404, 'image-missing'],
    ['could not select device driver "nvidia" with capabilities: [[gpu]]', 500, 'no-such-device'],
    ['nvidia-container-cli: device error: 7: unknown device', 500, 'no-such-device'],
    ['Minimum memory limit allowed is 6MB.', 400, 'out-of-memory'],
    ['mkdir /var/lib/docker/overlay2: no space left on device', 500, 'disk-full'],
    ['The container name "/berth-w1" is already in use by container "abc"', 409, 'runtime-unavailable'],
    ['OCI runtime create failed: something new', 400, 'start-failed'],
  ])('%s', (message, status, reason) => {
    expect(fromStartError(engineError(message, status), 'x')).toMatchObject({ reason });
  });
});

test('the words of the engine are told, and not those of its client', () => {
  const error = Object.assign(new Error('(HTTP code 500) server error - manifest unknown '), { statusCode: 500 });
  expect(fromPullError(error, 'a/b').message).toBe('Image a/b could not be pulled: manifest unknown');
});

test('an engine that is not there is temporary, a call that was given up is cancelled', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(fromStartError(refused, 'x')).toMatchObject({ reason: 'runtime-unavailable', isTemporary: true });
  expect(fromPullError(refused, 'x')).toMatchObject({ reason: 'runtime-unavailable' });
  const aborted = Object.assign(new Error('aborted'), { code: 'ABORT_ERR' });
  expect(fromEngineError(aborted, 'x')).toMatchObject({ reason: 'cancelled' });
});

test('a disk limit that the storage cannot keep is told from other errors', () => {
  const refusal = "--storage-opt is supported only for overlay over xfs with 'pquota' mount option";
  expect(isDiskLimitRefusal(engineError(refusal, 500))).toBe(true);
  expect(isDiskLimitRefusal(engineError('no space left on device', 500))).toBe(false);
});

describe('container options', () => {
  const start: ContainerStart = {
    labels: {
      hostId: 'h1' as HostId,
      workerId: 'w1' as WorkerId,
      endpointId: 'e1' as EndpointId,
      release: 4,
      image: 'x:1',
    },
    args: [],
    env: { A: 'b=c' },
    limits: { vcpus: 1.5, memoryBytes: 1024, diskBytes: 4096 },
    gpu: { typeId: 'NVIDIA L4', count: 2 },
  };
  const around = {
    network: 'n',
    bridge: { host: 'berth-host', address: '172.18.0.1' },
    nameServers: [],
    cores: 4,
    gpus: { names: ['GPU-1', 'GPU-3'], nvidia: ['GPU-1', 'GPU-3'], amd: null, renderNodes: [] },
    canLimitDisk: true,
  };

  test('name the worker, its devices, and what it may use', () => {
    expect(containerOptions(start, around)).toMatchObject({
      name: 'berth-w1',
      Env: ['A=b=c', 'NVIDIA_VISIBLE_DEVICES=GPU-1,GPU-3'],
      HostConfig: {
        NanoCpus: 1.5e9,
        Memory: 1024,
        MemorySwap: 1024,
        StorageOpt: { size: '4096' },
        ExtraHosts: ['berth-host:172.18.0.1'],
        DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: ['GPU-1', 'GPU-3'] }],
      },
    });
  });

  test('mount the network volume, and nothing else of the host', () => {
    const options = containerOptions({ ...start, volumeFolder: '/srv/volumes/a1/v1' }, around);
    expect(options.Env).toContain('BERTH_VOLUME_PATH=/runpod-volume');
    expect(options.HostConfig?.Mounts).toMatchObject([
      { Type: 'bind', Source: '/srv/volumes/a1/v1', Target: '/runpod-volume' },
    ]);
    expect(containerOptions(start, around).HostConfig).not.toHaveProperty('Mounts');
  });

  test('leave the image its own command when the endpoint has no arguments', () => {
    expect(containerOptions(start, around)).not.toHaveProperty('Cmd');
    expect(containerOptions({ ...start, args: ['x'] }, around)).toHaveProperty('Cmd', ['x']);
  });

  test('ask for no device where GPUs are simulated, and for no disk limit where none can be kept', () => {
    const gpus = { ...around.gpus, nvidia: null };
    const { HostConfig } = containerOptions(start, { ...around, gpus, canLimitDisk: false });
    expect(HostConfig).not.toHaveProperty('DeviceRequests');
    expect(HostConfig).not.toHaveProperty('StorageOpt');
  });

  test('hide the GPUs of the host from a worker without one, whatever its image or tenant says', () => {
    const gpus = { ...around.gpus, names: [], nvidia: [] };
    const env = { NVIDIA_VISIBLE_DEVICES: 'all' };
    const { Env, HostConfig } = containerOptions({ ...start, env, gpu: null }, { ...around, gpus });
    expect(Env).toEqual(['NVIDIA_VISIBLE_DEVICES=void']);
    expect(HostConfig).not.toHaveProperty('DeviceRequests');
  });

  test('give cards of AMD as their device files', () => {
    const gpus = { names: ['GPU-8a'], nvidia: null, amd: ['GPU-8a'], renderNodes: ['/dev/dri/renderD128'] };
    const { Env, HostConfig } = containerOptions(start, { ...around, gpus });
    expect(Env).toEqual(['A=b=c']);
    expect(HostConfig).toMatchObject({
      Devices: [{ PathOnHost: '/dev/kfd' }, { PathOnHost: '/dev/dri/renderD128', CgroupPermissions: 'rw' }],
    });
    expect(HostConfig).not.toHaveProperty('GroupAdd');
    const deviceGroups = [44, 109];
    const grouped = containerOptions(start, { ...around, gpus, deviceGroups });
    expect(grouped.HostConfig).toMatchObject({ GroupAdd: ['44', '109'] });
  });

  test('carry labels that are read back as they were', () => {
    const { Labels = {} } = containerOptions(start, around);
    expect(fromEngineLabels(Labels)).toEqual(start.labels);
    expect(gpuNamesOf(Labels)).toEqual(['GPU-1', 'GPU-3']);
    expect(fromEngineLabels({ 'com.example': 'x' })).toBeNull();
  });
});

test('log frames are joined, also where one ends in the middle of a character', () => {
  const frame = (bytes: Buffer): Buffer => {
    const header = Buffer.alloc(8);
    header.writeUInt32BE(bytes.length, 4);
    return Buffer.concat([header, bytes]);
  };
  const text = Buffer.from('one\ntwö\n');
  expect(textOfFrames(Buffer.concat([frame(text.subarray(0, 7)), frame(text.subarray(7))]))).toBe('one\ntwö\n');
});

test.each([
  ['python:3.12', 'https://index.docker.io/v1/'],
  ['user/image', 'https://index.docker.io/v1/'],
  ['ghcr.io/user/image:1', 'ghcr.io'],
  ['localhost:5000/image', 'localhost:5000'],
  ['localhost/image', 'localhost'],
])('the registry of %s is %s', (image, registry) => {
  expect(registryOf(image)).toBe(registry);
});

describe('a pull', () => {
  /** An engine that has no image and pulls every one, and remembers with what. */
  const engineThatPulls = (pulls: unknown[], answer: readonly Buffer[] = []): Dockerode =>
    ({
      getImage: () => ({ inspect: () => Promise.reject(engineError('no such image', 404)) }),
      pull: (image: string, { authconfig }: { readonly authconfig?: unknown }) => {
        pulls.push({ image, authconfig });
        return Promise.resolve(Readable.from(answer));
      },
    }) as unknown as Dockerode;

  test('logs in at the registry of its image with the credentials, and nowhere without any', async () => {
    const pulls: unknown[] = [];
    const engine = engineThatPulls(pulls);
    const credentials = { username: 'ci-puller', password: 'correct horse' };
    await pullImage(engine, { image: 'registry.example.com/team/worker', credentials }, {});
    await pullImage(engine, { image: 'user/worker:1', credentials }, {});
    await pullImage(engine, { image: 'registry.example.com/team/worker', credentials: null }, {});
    expect(pulls).toEqual([
      {
        image: 'registry.example.com/team/worker:latest',
        authconfig: { ...credentials, serveraddress: 'registry.example.com' },
      },
      { image: 'user/worker:1', authconfig: { ...credentials, serveraddress: 'https://index.docker.io/v1/' } },
      { image: 'registry.example.com/team/worker:latest', authconfig: undefined },
    ]);
  });

  const REQUEST = { image: 'registry.example.com/team/worker', credentials: null };

  test.each([
    ['{"errorDetail":{"message":"unknown blob"},"error":"unknown blob"}\r\n', 'unknown blob'],
    ['{"errorDetail":{"message":"unexpected EOF"}}\r\n', 'unexpected EOF'],
  ])('that begins and then fails, has failed: %s', async (failure, detail) => {
    const begun = '{"status":"Pulling from team/worker","id":"latest"}\r\n';
    const engine = engineThatPulls([], [Buffer.from(begun), Buffer.from(failure)]);
    await expect(pullImage(engine, REQUEST, {})).rejects.toMatchObject({
      reason: 'image-unreachable',
      message: expect.stringContaining(detail) as unknown,
    });
  });

  test('tells a layer’s change of state once, wherever the answer is cut', async () => {
    const answer = ['Downloading', 'Retrying in 2 seconds', 'Retrying in 1 second', 'Downloading', 'Pull complete']
      .map((status) => `${JSON.stringify({ id: 'ä', status, progressDetail: { current: 1, total: 4 } })}\r\n`)
      .join('');
    const engine = engineThatPulls(
      [],
      [...Buffer.from(answer)].map((byte) => Buffer.of(byte)),
    );
    const lines: string[] = [];
    const percents: number[] = [];
    await pullImage(engine, REQUEST, {
      onProgress: (line) => lines.push(line),
      onPercent: (percent) => percents.push(percent),
    });
    expect(lines.slice(1)).toEqual(['ä: Downloading', 'ä: Retrying in 2 seconds', 'ä: Pull complete']);
    expect(percents.at(-1)).toBe(100);
  });

  test('says while the engine waits to try downloads again, and when none of them is waited for any more', async () => {
    const events = [
      { id: 'a', status: 'Downloading' },
      { id: 'a', status: 'Retrying in 2 seconds' },
      { id: 'b', status: 'Retrying in 5 seconds' },
      { id: 'a', status: 'Retrying in 1 second' },
      { id: 'a', status: 'Downloading' },
      { id: 'b', status: 'Downloading' },
    ];
    const engine = engineThatPulls([], [Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))]);
    const told: (string | null)[] = [];
    await pullImage(engine, REQUEST, { onHeldUp: (reason) => told.push(reason) });
    expect(told).toEqual(['a download of it broke off, and the engine tries it again', null]);
  });
});

test('name servers on this machine’s loopback, of IPv6, and what is none are left out', () => {
  const text =
    'nameserver 127.0.0.53\n nameserver 10.1.2.3\nnameserver fd00::1\n#nameserver 10.9.9.9\nnameserver ;-j\n';
  expect(nameServersIn(`${text}${text}`)).toEqual(['10.1.2.3']);
});

test('an allowed network opens private addresses, and neither the host, nor neighbours, nor metadata', () => {
  const rules = confinementRules({
    policy: { allowedNetworks: ['0.0.0.0/0'], blockedNetworks: ['10.0.0.0/8'] },
    nameServers: ['10.1.2.3'],
    bridge: { address: '172.18.0.1', port: 8_010 },
    subnet: '172.18.0.0/16',
  });
  const place = (rule: string): number => rules.findIndex((each) => each.includes(rule));
  const allowed = place('-d 0.0.0.0/0 -j RETURN');
  for (const dropped of [
    '--dst-type LOCAL -j DROP',
    '-d 172.18.0.0/16 -j DROP',
    '-o berthw-+',
    '-d 169.254.0.0/16 -j DROP',
  ]) {
    expect(place(dropped)).toBeGreaterThan(0);
    expect(place(dropped)).toBeLessThan(allowed);
  }
  expect(place('-d 10.0.0.0/8 -j DROP')).toBeGreaterThan(allowed);
});
