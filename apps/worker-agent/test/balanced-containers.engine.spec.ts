import { text } from 'node:stream/consumers';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { MetricRegistry } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useContainerEngine } from '@berth/testing/containers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import Dockerode from 'dockerode';
import { LocalWorkerLink } from '../src/load-balanced/index.js';
import type { DockerRuntime } from '../src/runtimes/docker/docker-runtime.js';
import { openDocker } from './open-docker.js';

const TEST_TIMEOUT_MS = 240_000;
const IMAGE = 'berth-test/web:1';
const hostId = 'host1' as HostId;
const endpointId = 'endpoint1' as EndpointId;
const workerId = 'w1' as WorkerId;

const fixture = useContainerEngine({ hasBaseImage: true });
// Its hooks run before those of the engine.
describe('docker', () => {
  let runtime: DockerRuntime;

  beforeAll(async () => {
    const engine = new Dockerode({ socketPath: fixture.engine.socketPath });
    const container = await engine.createContainer({ Image: 'berth/python-base:bookworm', Cmd: ['true'] });
    const entrypoint = JSON.stringify(['python3', '-m', 'http.server', '--directory', '/tmp']);
    await container.commit({ repo: 'berth-test/web', tag: '1', changes: `ENTRYPOINT ${entrypoint}` });
    await container.remove();
    runtime = await openDocker(fixture.engine.socketPath, hostId);
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    await runtime.remove(workerId);
    await runtime.close();
  }, TEST_TIMEOUT_MS);

  test(
    'a confined container is checked and gets requests at its own address, with nothing published',
    async () => {
      const { address, containerId } = await runtime.start({
        labels: { hostId, workerId, endpointId, release: 1, image: IMAGE },
        args: ['8000'],
        env: {},
        limits: { vcpus: 1, memoryBytes: 256 * 1024 * 1024, diskBytes: null },
        gpu: null,
      });
      const look = await runtime.inspect(workerId);
      expect(look?.address).toBe(address);
      const link = new LocalWorkerLink({ hostId, clock: systemClock, metrics: new MetricRegistry() });
      try {
        link.see({
          ...{ workerId, endpointId, containerId, address: address ?? null, slots: 1 },
          ...{ port: 8_000, healthPorts: [80, 8_000], healthPath: '/' },
          ...{ wasReady: false, isAwake: true, isLeaving: false },
        });
        await eventually(() => expect(link.state(workerId)?.isHealthy).toBe(true), { deadlineMs: 90_000 });
        const answer = await link.open({ hostId, endpointId, workerId }, new AbortController().signal);
        if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
        answer.stream.end('GET / HTTP/1.0\r\n\r\n');
        expect(await text(answer.stream)).toMatch(/^HTTP\/1\.0 200 /);
        await eventually(() => expect(link.state(workerId)).toMatchObject({ inFlight: 0, finishedRequests: 1 }));
      } finally {
        link.close();
      }
    },
    TEST_TIMEOUT_MS,
  );
});
