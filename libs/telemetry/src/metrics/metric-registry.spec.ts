import { describe, expect, test } from '@jest/globals';
import { MetricRegistry } from './metric-registry.js';

test('a name that breaks the rules is not declared', () => {
  const metrics = new MetricRegistry();
  expect(() => metrics.counter({ name: 'berth_router_jobs', help: 'Jobs.' })).toThrow(
    'the name of a metric, berth_router_jobs: ends in _total, being a counter',
  );
  expect(metrics.declared).toEqual([]);
});

test('series whose labels are known beforehand are there from the start', async () => {
  const metrics = new MetricRegistry();
  metrics.counter({
    name: 'berth_router_tries_total',
    help: 'Tries.',
    labels: ['verb', 'outcome'],
    values: { verb: ['take', 'renew'], outcome: ['good', 'bad'] },
  });
  metrics.histogram({
    name: 'berth_router_try_seconds',
    help: 'Time.',
    labels: ['verb'],
    values: { verb: ['take'] },
    buckets: [1],
  });
  const text = await metrics.text();
  for (const verb of ['take', 'renew']) {
    for (const outcome of ['good', 'bad']) {
      expect(text).toContain(`berth_router_tries_total{verb="${verb}",outcome="${outcome}"} 0`);
    }
  }
  expect(text).toContain('berth_router_try_seconds_count{verb="take"} 0');
});

test('a series that is not read any more is gone', async () => {
  const metrics = new MetricRegistry();
  let waiting = [
    { labels: { endpoint: 'a' }, value: 3 },
    { labels: { endpoint: 'b' }, value: 4 },
  ];
  metrics.gaugesOf({ name: 'berth_router_waiting', help: 'Jobs.', labels: ['endpoint'] }, () => waiting);
  expect(await metrics.text()).toContain('berth_router_waiting{endpoint="b"} 4');
  waiting = [{ labels: { endpoint: 'a' }, value: 5 }];
  const text = await metrics.text();
  expect(text).toContain('berth_router_waiting{endpoint="a"} 5');
  expect(text).not.toContain('endpoint="b"');
});

test('all that was declared is told by name, with its type and labels', () => {
  const metrics = new MetricRegistry();
  metrics.gaugeOf({ name: 'berth_router_open', help: 'Open.' }, () => 1);
  metrics.counter({ name: 'berth_agent_ends_total', help: 'Ends.', labels: ['kind'] });
  expect(metrics.declared).toEqual([
    { type: 'counter', name: 'berth_agent_ends_total', help: 'Ends.', labels: ['kind'] },
    { type: 'gauge', name: 'berth_router_open', help: 'Open.', labels: [] },
  ]);
});

describe('a traced histogram', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  const OPEN = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';

  const namesIn = (text: string) => text.split('\n').filter((line) => line.startsWith('# TYPE'));

  function measured() {
    const metrics = new MetricRegistry();
    metrics.collectProcess();
    metrics.counter({ name: 'berth_router_tries_total', help: 'Tries.' }).inc();
    const histogram = metrics.tracedHistogram({
      name: 'berth_router_try_seconds',
      help: 'Time.',
      labels: ['verb'],
      values: { verb: ['take'] },
      buckets: [1, 2],
    });
    return { metrics, histogram };
  }

  test('tells in OpenMetrics of a recorded trace in each bucket, and nothing of others', async () => {
    const { histogram, metrics } = measured();
    histogram.observe({ verb: 'take' }, 0.5, `00-${TRACE}-00f067aa0ba902b7-01`);
    histogram.observe({ verb: 'take' }, 1.5, `00-${TRACE}-00f067aa0ba902b7-00`);
    for (const traceparent of [null, undefined, 'of no trace-01']) histogram.observe({ verb: 'take' }, 3, traceparent);
    const { contentType, text } = await metrics.expose(OPEN);
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(text.split('\n').filter((line) => line.includes('trace_id'))).toEqual([
      expect.stringContaining(`berth_router_try_seconds_bucket{le="1",verb="take"} 1 # {trace_id="${TRACE}"} 0.5 `),
    ]);
    expect(text).toContain('berth_router_try_seconds_count{verb="take"} 5\n');
    expect(text).toContain('# TYPE berth_router_tries counter\nberth_router_tries_total 1\n');
    expect(text.endsWith('\n# EOF\n')).toBe(true);
  });

  test('is any other in the format of Prometheus, also after it was asked for in OpenMetrics', async () => {
    const { histogram, metrics } = measured();
    histogram.observe({ verb: 'take' }, 0.5, `00-${TRACE}-00f067aa0ba902b7-01`);
    const before = await metrics.text();
    expect(before).toContain('# TYPE berth_router_tries_total counter\nberth_router_tries_total 1\n');
    expect(before).not.toContain('trace_id');
    await Promise.all([metrics.expose(OPEN), metrics.expose(OPEN)]);
    const { contentType, text } = await metrics.expose('text/plain');
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(namesIn(text)).toEqual(namesIn(before));
  });
});
