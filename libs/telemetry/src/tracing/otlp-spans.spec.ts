import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLogger, silentLogger } from '../logging/logger.js';
import { MetricRegistry } from '../metrics/metric-registry.js';
import { spanMetrics } from './metrics.js';
import { OtlpSpans, type OtlpSpansOptions } from './otlp-spans.js';
import { newTrace } from './traceparent.js';

/** More than one batch, and less than are kept. */
const SPANS = 2_000;

let server: Server;
let metrics: MetricRegistry;
let statuses: number[];
/** Requests that came, and the most that were there at one time. */
let seen: { asked: number; open: number; openMax: number };

beforeEach(async () => {
  metrics = new MetricRegistry();
  statuses = [];
  seen = { asked: 0, open: 0, openMax: 0 };
  server = createServer((request, response) => {
    seen.asked += 1;
    seen.open += 1;
    seen.openMax = Math.max(seen.openMax, seen.open);
    request.resume().once('end', () => {
      seen.open -= 1;
      response.writeHead(statuses.shift() ?? 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function open(changes: Partial<OtlpSpansOptions> = {}): OtlpSpans {
  const { port } = server.address() as AddressInfo;
  return new OtlpSpans({
    ...{ endpoint: `http://127.0.0.1:${port}`, process: 'job-router', instance: null },
    ...{ metrics: spanMetrics(metrics), logger: silentLogger, ...changes },
  });
}

function addTo(spans: OtlpSpans, spansCount: number): void {
  for (let count = 0; count < spansCount; count += 1) {
    spans.add({ name: 'step', context: newTrace(true), parentSpanId: null, startMs: 1_000, endMs: 2_000 });
  }
}

async function sendAll(): Promise<void> {
  const spans = open();
  addTo(spans, SPANS);
  await spans.close();
}

const counted = async (outcome: string): Promise<string | undefined> =>
  new RegExp(`^berth_trace_spans_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(await metrics.text())?.[1];

test('at a stop all that waits goes out, one batch after another', async () => {
  await sendAll();
  expect(seen).toEqual({ asked: 4, open: 0, openMax: 1 });
  expect([await counted('sent'), await counted('failed')]).toEqual([String(SPANS), '0']);
});

test('a batch that the collector does not take keeps no other one back', async () => {
  statuses = [200, 400];
  await sendAll();
  expect([await counted('sent'), await counted('failed')]).toEqual([String(SPANS - 512), '512']);
});

test('a collector that never answers does not make a stop fail: what waited, and what comes after, is counted', async () => {
  server.removeAllListeners('request');
  const written: string[] = [];
  const output = new Writable({ write: (chunk: Buffer, _encoding, done) => (written.push(String(chunk)), done()) });
  const logger = createLogger({ name: 'job-router', level: 'warn', format: 'json', output });
  const spans = open({ logger, sendWithinMs: 50 });
  addTo(spans, SPANS + 100);
  await expect(spans.close()).resolves.toBeUndefined();
  addTo(spans, 1);
  expect([await counted('sent'), await counted('failed'), await counted('dropped')]).toEqual([
    ...['0', '2048', String(SPANS + 100 + 1 - 2_048)],
  ]);
  expect(written.filter((line) => line.includes('what waited at the stop'))).toHaveLength(1);
});
