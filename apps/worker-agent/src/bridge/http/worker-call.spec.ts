import { describe, expect, test } from '@jest/globals';
import { parseCall } from './worker-call.js';

describe('what a worker asks, read from the address', () => {
  const take = { kind: 'take', slots: 1, isBatch: false, isIdle: false } as const;

  test.each([
    ['GET', '/v2/ep1/job-take/w1?gpu=NVIDIA+RTX+A5000&job_in_progress=1', take],
    ['GET', '/v2/ep1/job-take/w1?gpu=A&job_in_progress=0', { ...take, isIdle: true }],
    ['GET', '/job-take/w1?&job_in_progress=0', { ...take, isIdle: true }],
    ['GET', '/job-take/w1?gpu&job_in_progress=0', { ...take, isIdle: true }],
    ['GET', '/job-take/w1?gpu=a?job_in_progress=0', { ...take, isIdle: true }],
    ['GET', '/v2/ep1/job-take/w1', take],
    ['GET', '/v2/ep1/job-take/w1/', take],
    ['GET', '/v2/e/job-take-batch/w?&batch_size=7&job_in_progress=1', { ...take, slots: 7, isBatch: true }],
    ['GET', '/v2/e/job-take-batch/w?batch_size=7&batch_strategy=LMove', { ...take, slots: 7, isBatch: true }],
    ['GET', '/v2/e/job-take-batch/w?batch_size=900', { ...take, slots: 64, isBatch: true }],
    ['GET', '/v2/e/job-take-batch/w?batch_size=-3', { ...take, isBatch: true }],
    ['GET', '/v2/e/job-take-batch/w?batch_size=many', { ...take, isBatch: true }],
    ['GET', '/v2/ep1/job-stop/w1?gpu=cpu', { kind: 'stop' }],
    ['GET', '/v2/ep1/ping/w1?gpu=cpu&runpod_version=1.12.0', { kind: 'ping', jobIds: [], sdkVersion: '1.12.0' }],
    ['GET', '/ping/w1?job_id=a%2Cb&job_id=c', { kind: 'ping', jobIds: ['a', 'b', 'c'], sdkVersion: null }],
    [
      'GET',
      '/ping/w1?status=unhealthy&check=_memory_check&reason=too+little&runpod_version=1.11',
      { kind: 'unhealthy', check: '_memory_check', reason: 'too little' },
    ],
    ['POST', '/v2/ep1/job-done/w1/5e0ae067-u1?gpu=NVIDIA+RTX&isStream=false', { kind: 'done', jobId: '5e0ae067-u1' }],
    ['POST', '/job-done/w1/sync-1?&isStream=true', { kind: 'done', jobId: 'sync-1' }],
    ['POST', '/v2/ep1/job-stream/w1/a%20b?gpu=cpu&isStream=false', { kind: 'stream', jobId: 'a b' }],
    ['POST', '/v2/ep1/job-stream/w1/100%?x', { kind: 'stream', jobId: '100%' }],
    ['POST', '/v2/ep1/job-done/w1?gpu=cpu', null],
    ['POST', '/v2/ep1/job-take/w1?gpu=cpu', null],
    ['GET', '/v2/ep1/job-done/w1/j1', null],
    ['GET', '/v2/ep1/job-take/w1/extra', null],
    ['PUT', '/v2/ep1/job-done/w1/j1', null],
    ['GET', '/', null],
    ['GET', '/v2/ep1/job-take-more/w1', null],
  ])('%s %s', (method, target, expected) => {
    expect(parseCall(method, target)).toEqual(expected);
  });
});
