import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pollUntil, startPrometheus, type Prometheus } from '@berth/servers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { request } from 'undici';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { BalancedEndpoint } from './stack/balanced-endpoint.js';
import { Collector, type CollectedSpan } from './stack/collector.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
/** The collector may have to be built. */
const STACK_MS = 1_800_000;
const TRACE_WITHIN_MS = 60_000;
const CALLERS_STEP = '00f067aa0ba902b7';
jest.setTimeout(300_000);

let collector: Collector;
let prometheus: Prometheus;
let stack: StartedStack;
let client: TenantClient;
let endpointId: string;
let mirror: BalancedEndpoint;
let receiver: Server;
const heard: IncomingHttpHeaders[] = [];

beforeAll(async () => {
  collector = await Collector.start();
  receiver = createServer((incoming, response) => {
    heard.push(incoming.headers);
    incoming.resume().once('end', () => response.end());
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  const recorded = ['--otlp-endpoint', collector.endpoint, '--traced-permille', '0'];
  stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off', ...recorded]);
  const targets = Object.values(stack.dev.operations).map((url) => new URL(url).host);
  prometheus = await startPrometheus({ jobs: [{ name: 'berth', targets }], everySeconds: 1, ruleFiles: [] });
  client = new TenantClient(() => stack.dev);
  const { body } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    ...{ name: 'traced', type: 'QUEUE', image: 'local/traced', cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
    ...{ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 1, max: 1 } },
  });
  endpointId = body.id;
  mirror = await BalancedEndpoint.create(stack, {
    ...{ image: 'local/mirror', requestCount: 8, workers: { min: 1, max: 1 } },
  });
}, STACK_MS);

afterAll(async () => {
  await prometheus.stop();
  await stack.stop();
  await stack.remove();
  await collector.stop();
  receiver.close();
}, STACK_MS);

async function runSync(traceparent: string, body: object): Promise<{ readonly id: string; readonly output?: object }> {
  const response = await request(`${stack.dev.runUrl}/v2/${endpointId}/runsync?wait=60000`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.dev.apiKey}`, 'content-type': 'application/json', traceparent },
    body: JSON.stringify(body),
    headersTimeout: 90_000,
  });
  return (await response.body.json()) as { readonly id: string; readonly output?: object };
}

/** What a caller is told who asks for the trace of a job. */
async function debugOf(id: string): Promise<unknown> {
  const response = await request(`${stack.dev.runUrl}/v2/${endpointId}/status/${id}?debug=true`, {
    headers: { authorization: `Bearer ${stack.dev.apiKey}` },
  });
  return ((await response.body.json()) as { readonly debug?: unknown }).debug;
}

/** The trace, once it holds all of these steps. */
const traceWith = (traceId: string, names: readonly string[]): Promise<readonly CollectedSpan[]> =>
  pollUntil(
    async () => {
      const spans = await collector.spansOf(traceId);
      return names.every((name) => spans.some((span) => span.name === name)) ? spans : undefined;
    },
    { what: `the steps ${names.join(', ')}`, deadlineMs: TRACE_WITHIN_MS, intervalMs: 100 },
  );

const STEPS = {
  'job-router': [
    'POST /v2/:endpointId/runsync',
    'send job',
    'commit job',
    'wait in queue',
    'commit end',
    'POST webhook',
  ],
  'worker-agent': ['prepare job', 'deliver job', 'process job', 'report end'],
};

describe('a job', () => {
  test('is one trace from its caller to its webhook, with a place for what its worker does', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const { port } = receiver.address() as AddressInfo;
    const webhook = `http://127.0.0.1:${port}/told`;
    const { id, output } = await runSync(`00-${traceId}-${CALLERS_STEP}-01`, { input: {}, webhook });
    const spans = await traceWith(traceId, Object.values(STEPS).flat());
    for (const [service, names] of Object.entries(STEPS)) {
      const theirs = spans.filter((span) => span.service === service).map(({ name }) => name);
      expect(theirs.toSorted()).toEqual(names.toSorted());
    }
    const own = new Set(spans.map(({ spanId }) => spanId));
    expect(own.size).toBe(spans.length);
    const outside = spans.filter(({ parentSpanId }) => !own.has(parentSpanId));
    expect(outside).toMatchObject([{ name: 'POST /v2/:endpointId/runsync', parentSpanId: CALLERS_STEP }]);
    const [run] = spans.filter(({ name }) => name === 'process job');
    expect(run?.attributes).toMatchObject({ 'messaging.message.id': id, 'messaging.destination.name': endpointId });
    expect(output).toEqual({ traceparent: `00-${traceId}-${run?.spanId}-01` });
    const [told] = spans.filter(({ name }) => name === 'POST webhook');
    expect(heard.map(({ traceparent }) => traceparent)).toEqual([`00-${traceId}-${told?.spanId}-01`]);
    expect(await debugOf(id)).toEqual({ traceId, isRecorded: true });
  });

  test('that fails is recorded although its caller had not meant it, and one that does not fail is not', async () => {
    const [well, ill] = ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2'];
    const { id: endedWell } = await runSync(`00-${well}-${CALLERS_STEP}-00`, { input: {} });
    const { id: failed } = await runSync(`00-${ill}-${CALLERS_STEP}-00`, { input: { fails: true } });
    const spans = await traceWith(ill, ['wait in queue', 'process job', 'job']);
    expect(spans.map(({ name }) => name).toSorted()).toEqual(['job', 'process job', 'wait in queue']);
    expect(JSON.stringify(spans)).not.toContain('on purpose');
    expect(await collector.spansOf(well)).toEqual([]);
    expect(await debugOf(endedWell)).toEqual({ traceId: well, isRecorded: false });
    expect(await debugOf(failed)).toEqual({ traceId: ill, isRecorded: true });
  });

  test('can be found from the times that Prometheus has of it', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4737';
    await runSync(`00-${traceId}-${CALLERS_STEP}-01`, { input: {} });
    for (const name of ['berth_http_request_seconds', 'berth_router_job_delay_seconds', 'berth_agent_report_seconds']) {
      await pollUntil(async () => ((await exemplarsOf(`${name}_bucket`)).includes(traceId) ? true : undefined), {
        what: `the trace at ${name}`,
        deadlineMs: TRACE_WITHIN_MS,
        intervalMs: 200,
      });
    }
  });
});

describe('a request to a load-balanced worker', () => {
  test('is one trace from its caller over its host to its worker', async () => {
    await mirror.up(1);
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4738';
    const headers = { traceparent: `00-${traceId}-${CALLERS_STEP}-01` };
    const answer = await mirror.ask('/mirror', { method: 'GET', headers });
    if (answer.kind === 'cut') throw new Error(answer.code);
    const spans = await traceWith(traceId, [
      'GET load-balanced',
      'wait for worker',
      'ask worker',
      'send request',
      'carry request',
    ]);
    const [whole] = spans.filter(({ name }) => name === 'GET load-balanced');
    const [sent] = spans.filter(({ name }) => name === 'send request');
    const [carried] = spans.filter(({ name }) => name === 'carry request');
    expect([whole?.parentSpanId, sent?.parentSpanId, carried?.parentSpanId]).toEqual([
      CALLERS_STEP,
      whole?.spanId,
      sent?.spanId,
    ]);
    expect(carried).toMatchObject({ service: 'worker-agent', attributes: { 'berth.endpoint.id': mirror.id } });
    expect(answer.body).toContain(`00-${traceId}-${sent?.spanId}-01`);
  });
});

/** Ids of the traces that are kept with a metric. */
async function exemplarsOf(query: string): Promise<readonly string[]> {
  const asked = { query, start: '0', end: '9999999999' };
  const { data } = (await (
    await request(`${prometheus.url}/api/v1/query_exemplars`, { query: asked })
  ).body.json()) as {
    readonly data: readonly { readonly exemplars: readonly { readonly labels: { readonly trace_id: string } }[] }[];
  };
  return data.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels.trace_id));
}
