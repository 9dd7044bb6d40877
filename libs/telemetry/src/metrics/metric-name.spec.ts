import { describe, expect, test } from '@jest/globals';
import { faultOfName, type MetricType } from './metric-name.js';

describe('names that keep the rules', () => {
  const names: readonly (readonly [MetricType, string])[] = [
    ['counter', 'berth_router_jobs_accepted_total'],
    ['counter', 'berth_usage_gpu_seconds_total'],
    ['gauge', 'berth_router_jobs_waiting'],
    ['gauge', 'berth_router_store_fill_ratio'],
    ['histogram', 'berth_http_request_seconds'],
  ];
  test.each(names)('%s %s', (type, name) => {
    expect(faultOfName(type, name)).toBeNull();
  });
});

describe('names that do not', () => {
  const names: readonly (readonly [MetricType, string, string])[] = [
    ['counter', 'router_jobs_total', 'begins with berth_'],
    ['gauge', 'berth_Router', 'begins with berth_'],
    ['gauge', 'berth__router', 'begins with berth_'],
    ['counter', 'berth_router_jobs', 'ends in _total'],
    ['gauge', 'berth_router_jobs_total', 'is a gauge'],
    ['histogram', 'berth_router_delay', 'ends in its unit'],
    ['histogram', 'berth_router_delay_ms', 'base units'],
    ['gauge', 'berth_router_age_hours', 'base units'],
    ['counter', 'berth_router_sent_kb_total', 'base units'],
  ];
  test.each(names)('%s %s', (type, name, said) => {
    expect(faultOfName(type, name)).toContain(said);
  });
});
