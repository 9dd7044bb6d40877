import { SERIES_MAX, type EndpointId } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { beforeEach, expect, test } from '@jest/globals';
import { loadBalancerMetrics } from '../metrics.js';
import { CountedEnds } from './counted-ends.js';

const HOUR_MS = 3_600_000;
const [A, B] = ['a' as EndpointId, 'b' as EndpointId];

let metrics: MetricRegistry;
let ends: CountedEnds;
beforeEach(() => {
  metrics = new MetricRegistry();
  ends = new CountedEnds(loadBalancerMetrics(metrics).requests);
});

async function shown(endpoint: string): Promise<Readonly<Record<string, number>>> {
  const line = new RegExp(
    `^berth_router_lb_requests_total\\{endpoint="${endpoint}",outcome="([^"]+)"\\} (\\d+)$`,
    'gm',
  );
  const series = [...(await metrics.text()).matchAll(line)];
  return Object.fromEntries(series.map(([, outcome = '', count]) => [outcome, Number(count)]));
}

const QUIET = {
  ...{ '2xx': 0, 'internal-error': 0, 'no-worker-available': 0 },
  ...{ 'service-unavailable': 0, 'too-many-held-requests': 0 },
};

test('requests are counted by their endpoint, and each failure of ours begins at zero', async () => {
  ends.note(A, '2xx', 0);
  ends.note(A, 'no-worker-available', 0);
  ends.note(B, '4xx', 0);
  expect(await shown('a')).toEqual({ ...QUIET, '2xx': 1, 'no-worker-available': 1 });
  expect(await shown('b')).toEqual({ ...QUIET, '4xx': 1 });
});

test('those that were let to no endpoint are counted with the others', async () => {
  expect(await shown('_other')).toEqual(QUIET);
  ends.note(null, 'missing-api-key', 0);
  expect(await shown('_other')).toEqual({ ...QUIET, 'missing-api-key': 1 });
});

test('so are those of endpoints for which there is no room, until one has been quiet for an hour', async () => {
  for (let at = 0; at < SERIES_MAX; at += 1) ends.note(`e${at}` as EndpointId, '101-is-none', 0);
  ends.note(A, '2xx', HOUR_MS - 1);
  expect(await shown('_other')).toEqual({ ...QUIET, '2xx': 1 });
  ends.note(A, '2xx', HOUR_MS);
  expect(await shown('a')).toEqual({ ...QUIET, '2xx': 1 });
  expect(await shown('e0')).toEqual({});
  expect(await shown('e1')).toEqual({ ...QUIET, '101-is-none': 1 });
});
