import { expect, test } from '@jest/globals';
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
