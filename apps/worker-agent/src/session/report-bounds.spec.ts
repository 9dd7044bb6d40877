import type { HostReply, ReportRequest } from '@berth/contracts';
import type { EndpointId, ObservedWorker, WorkerId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { HostSession } from './host-session.js';
import { NO_VOLUMES } from '../volumes/index.js';
import { FakeWorkerLogs } from '../../test/fake-worker-logs.js';

const REPORT_MAX_BYTES = 130 * 1024;

/** A host whose workers have much to say, behind a line that answers when it is told to. */
function newSession(clock: ManualClock) {
  const reports: ReportRequest[] = [];
  const answer = new AbortController();
  let change: () => void = () => undefined;
  const link = {
    connected: () => Promise.resolve(),
    report: (request: ReportRequest): Promise<HostReply> => {
      reports.push(request);
      const reply: HostReply = { desired: [], dataCenterId: 'EU-1' };
      if (answer.signal.aborted) return Promise.resolve(reply);
      return new Promise((resolve) => answer.signal.addEventListener('abort', () => resolve(reply), { once: true }));
    },
    onWake: () => () => undefined,
  };
  const observed = Array.from({ length: 200 }, (_, order): ObservedWorker => ({
    workerId: `w${order}` as WorkerId,
    endpointId: 'e' as EndpointId,
    release: 1,
    phase: 'unhealthy',
    reason: 'x'.repeat(2_000),
    runningJobs: 0,
    failedStarts: 5,
    phaseSinceMs: 1,
    startedAtMs: null,
    gpuTypeId: null,
  }));
  const workers = {
    setDesired: () => undefined,
    resume: () => undefined,
    observed: () => observed,
    subscribe: (listener: () => void) => {
      change = listener;
      return () => undefined;
    },
  };
  const inventory = async () => ({
    vcpus: 2,
    isOvercommitted: false,
    memoryBytes: 1,
    diskBytes: 1,
    gpus: [],
    areGpusSimulated: false,
    cudaVersion: null,
    runtime: 'process' as const,
    images: Array.from({ length: 1_000 }, () => 'i'.repeat(512)),
  });
  const session = new HostSession({
    secret: 's',
    instanceId: 'i',
    link,
    inventory,
    workers,
    volumes: NO_VOLUMES,
    logs: new FakeWorkerLogs(),
    clock,
    logger: silentLogger,
  });
  return { session, reports, change: () => change(), answer: () => answer.abort() };
}

test('reports do not fill the uplink: one is under way at a time, and each is bounded', async () => {
  const clock = new ManualClock();
  const { answer, change, reports, session } = newSession(clock);
  session.start();
  for (let tick = 0; tick < 50; tick += 1) {
    change();
    await clock.advance(100);
  }
  expect(reports).toHaveLength(1);
  expect(Buffer.byteLength(JSON.stringify(reports[0]), 'utf8')).toBeLessThanOrEqual(REPORT_MAX_BYTES);
  expect(reports[0]?.workers).toHaveLength(200);
  answer();
  await clock.advance(1_000);
  expect(reports.length).toBeGreaterThan(1);
  await session.stop();
});
