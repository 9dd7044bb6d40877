import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { silentLogger } from '../logging/logger.js';
import { MetricRegistry } from '../metrics/metric-registry.js';
import { spanMetrics } from './metrics.js';
import { OtlpSpans } from './otlp-spans.js';
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

async function sendAll(): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const spans = new OtlpSpans({
    ...{ endpoint: `http://127.0.0.1:${port}`, process: 'job-router', instance: null },
    ...{ metrics: spanMetrics(metrics), logger: silentLogger },
  });
  for (let count = 0; count < SPANS; count += 1) {
    spans.add({ name: 'step', context: newTrace(true), parentSpanId: null, startMs: 1_000, endMs: 2_000 });
  }
  await spans.close();
}

const counted = async (outcome: string): Promise<string | undefined> =>
  new RegExp(`^berth_trace_spans_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(await metrics.text())?.[1];

test('at a stop all that waits goes out, one batch after another', async () => {
  await sendAll();
  expect(seen).toEqual({ asked: 4, open: 0, openMax: 1 });
  expect([await counted('sent'), await counted('failed')]).toEqual([String(SPANS), undefined]);
});

test('a batch that the collector does not take keeps no other one back', async () => {
  statuses = [200, 400];
  await sendAll();
  expect([await counted('sent'), await counted('failed')]).toEqual([String(SPANS - 512), '512']);
});
