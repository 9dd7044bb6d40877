import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { LocalWorkerLink } from './local-worker-link.js';

const TARGET = { hostId: 'host1' as HostId, endpointId: 'e1' as EndpointId, workerId: 'w1' as WorkerId };
const CHECK_EVERY_MS = 5_000;

let clock: ManualClock;
let metrics: MetricRegistry;
let link: LocalWorkerLink;
let worker: Server;
let status: number;
beforeEach(async () => {
  [clock, metrics, status] = [new ManualClock(), new MetricRegistry(), 200];
  link = new LocalWorkerLink({ hostId: TARGET.hostId, clock, metrics });
  worker = createServer((_, response) => response.writeHead(status).end());
  await once(worker.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  link.close();
  worker.closeAllConnections();
  await new Promise((resolve) => worker.close(resolve));
});

const shows = (...lines: readonly string[]): Promise<void> =>
  eventually(async () => expect((await metrics.text()).split('\n')).toEqual(expect.arrayContaining([...lines])));

function seeWorker(): void {
  const { port } = worker.address() as AddressInfo;
  link.see({
    ...{ workerId: TARGET.workerId, endpointId: TARGET.endpointId, containerId: 'c1', address: '127.0.0.1', port },
    ...{ healthPorts: [port], healthPath: '/ping', slots: 1, wasReady: false, isAwake: true, isLeaving: false },
  });
}

const stands = (standing: string): Promise<void> =>
  eventually(() => expect(link.state(TARGET.workerId)?.health.standing).toBe(standing));

test('a worker that its checks put out, and that comes back, is counted each time', async () => {
  seeWorker();
  await stands('in');
  await shows('berth_agent_balanced_health_changes_total{standing="in"} 1');
  status = 500;
  for (let checks = 1; checks <= 2; checks += 1) {
    await clock.advance(CHECK_EVERY_MS);
    await shows(`berth_agent_health_checks_total{outcome="failed"} ${checks}`);
  }
  await shows('berth_agent_balanced_health_changes_total{standing="out"} 1', 'berth_agent_balanced_workers_out 1');
  status = 200;
  await clock.advance(CHECK_EVERY_MS);
  await shows('berth_agent_balanced_health_changes_total{standing="in"} 2', 'berth_agent_balanced_workers_out 0');
});

test('a request is timed until its worker took the connection, and is in flight until it has closed', async () => {
  seeWorker();
  await stands('in');
  const answer = await link.open(TARGET, new AbortController().signal);
  if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
  await shows('berth_agent_balanced_connect_seconds_count 1', 'berth_agent_balanced_requests_in_flight 1');
  answer.stream.destroy();
  await shows('berth_agent_balanced_requests_in_flight 0');
});
