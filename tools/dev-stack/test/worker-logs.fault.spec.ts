import { fileURLToPath } from 'node:url';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { LogReader } from './log-reader.js';

const WAIT = { deadlineMs: 90_000, intervalMs: 200 };
const VCPUS = 4;
const WORKERS = fileURLToPath(new URL('../../../apps/worker-agent/test/workers', import.meta.url));

let stack: StartedStack;
let tenant: TenantClient;
const readers: LogReader[] = [];

beforeAll(async () => {
  const flags = ['--vcpus', String(VCPUS), '--demo', 'off', '--runtime', 'process', '--images', WORKERS];
  stack = await StartedStack.start(flags);
  tenant = new TenantClient(() => stack.dev, 90_000);
});
afterEach(() => {
  for (const reader of readers.splice(0)) reader.leave();
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

async function created(name: string): Promise<string> {
  const answer = await tenant.manage<{ readonly id: string }>('POST', '/v2/serverless', {
    ...{ name, type: 'QUEUE', image: `local/${name}`, cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
    ...{ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 1, max: 1 } },
  });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}

interface WorkerList {
  readonly workers: readonly { readonly id: string }[];
}

const workerOf = (endpointId: string): Promise<string> =>
  eventually(async () => {
    const { body } = await tenant.manage<WorkerList>('GET', `/v2/serverless/${endpointId}/workers`);
    const [worker] = body.workers;
    if (worker === undefined) throw new Error('there is no worker yet');
    return worker.id;
  }, WAIT);

function read(path: string): LogReader {
  const reader = new LogReader(stack.dev, `/v2/serverless/${path}`);
  readers.push(reader);
  return reader;
}

const fromOne = (counts: readonly number[]): readonly number[] => counts.map((_, index) => index + 1);

describe('logs that are read from the API', () => {
  test('have every line once and in its order while their agent is killed and their readers come and go', async () => {
    const endpointId = await created('talker');
    const workerId = await workerOf(endpointId);
    const [ofWorker, ofEndpoint] = [
      read(`${endpointId}/workers/${workerId}/logs?tail=5000`),
      read(`${endpointId}/logs?tail=5000`),
    ];
    const both = [ofWorker, ofEndpoint];
    for (const reader of both) await eventually(() => expect(reader.counts.length).toBeGreaterThan(20), WAIT);
    const pid = stack.pidOf('worker-agent');
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(stack.pidOf('worker-agent')).not.toBe(pid), WAIT);
    const before = Math.max(...both.map(({ counts }) => counts.length));
    for (const reader of both) reader.hangUp();
    for (const reader of both) await eventually(() => expect(reader.counts.length).toBeGreaterThan(before + 100), WAIT);
    for (const { counts, opened } of both) {
      expect(counts).toEqual(fromOne(counts));
      expect(opened).toBeGreaterThan(1);
    }

    const { body } = await tenant.job<{ readonly id: string }>('POST', `/${endpointId}/runsync`, { input: { a: 1 } });
    const ofJob = read(`${endpointId}/logs?tail=5000&jobId=${body.id}`);
    await eventually(() => expect(ofJob.of('container').join('\n')).toContain('work on {"a":1}'), WAIT);
    expect(new Set(ofJob.told.filter(({ id }) => id !== undefined).map(({ jobId }) => jobId))).toEqual(
      new Set([body.id]),
    );
    expect((await tenant.manage('DELETE', `/v2/serverless/${endpointId}`)).status).toBe(204);
  });

  test('say how many lines a worker printed too fast, are plain text whatever it printed, and go on', async () => {
    const endpointId = await created('flooder');
    const reader = read(`${endpointId}/workers/${await workerOf(endpointId)}/logs?tail=5000`);
    await eventually(() => expect(reader.counts.length).toBeGreaterThan(5), WAIT);
    const markers = reader.of('system').filter((line) => /^\d+ lines were dropped: they came faster/.test(line));
    expect(markers.length).toBeGreaterThan(0);
    const { counts } = reader;
    expect(counts).toEqual([...new Set(counts)].toSorted((a, b) => a - b));
    for (const { line } of reader.told) {
      expect(line.length).toBeLessThanOrEqual(64 * 1_024);
      expect(line).not.toMatch(/(?!\t)[\p{Cc}]/u);
    }
    expect((await tenant.manage('DELETE', `/v2/serverless/${endpointId}`)).status).toBe(204);
  });
});
