import { describe, expect, test } from '@jest/globals';
import type { EndpointId } from '../ids.js';
import { requestUrls } from './request-urls.js';

const id = 'ep1' as EndpointId;
const local = { runUrl: 'http://127.0.0.1:8001', loadBalancerDomain: 'localhost:8001' };

describe('requestUrls', () => {
  test('of a queue endpoint', () => {
    expect(requestUrls({ id, type: 'QUEUE', env: {} }, { ...local, runUrl: 'https://jobs.example.com/' })).toEqual({
      run: 'https://jobs.example.com/v2/ep1/run',
      runSync: 'https://jobs.example.com/v2/ep1/runsync',
      status: 'https://jobs.example.com/v2/ep1/status/{job_id}',
      stream: 'https://jobs.example.com/v2/ep1/stream/{job_id}',
      cancel: 'https://jobs.example.com/v2/ep1/cancel/{job_id}',
      retry: 'https://jobs.example.com/v2/ep1/retry/{job_id}',
      purgeQueue: 'https://jobs.example.com/v2/ep1/purge-queue',
      health: 'https://jobs.example.com/v2/ep1/health',
    });
  });

  test('of a load-balanced endpoint', () => {
    expect(requestUrls({ id, type: 'LOAD_BALANCER', env: {} }, local)).toEqual({
      base: 'http://ep1.localhost:8001',
      health: 'http://ep1.localhost:8001/ping',
    });
  });

  test.each([
    [{ HEALTH_CHECK_PATH: '/healthz' }, '/healthz'],
    [{ HEALTH_CHECK_PATH: 'up' }, '/up'],
    [{ HEALTH_CHECK_PATH: '' }, '/ping'],
    [{ PORT_HEALTH: '81' }, '/ping'],
  ])('the health path follows %j', (env: Record<string, string>, path) => {
    const addresses = { runUrl: 'https://jobs.example.com', loadBalancerDomain: 'lb.example.com' };
    const urls = requestUrls({ id, type: 'LOAD_BALANCER', env }, addresses);
    expect(urls).toEqual({ base: 'https://ep1.lb.example.com', health: `https://ep1.lb.example.com${path}` });
  });
});
