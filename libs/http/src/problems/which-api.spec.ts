import { describe, expect, test } from '@jest/globals';
import { pointElsewhere, whichApi } from './which-api.js';

describe('which API has a path', () => {
  test.each([
    ['/v2/serverless', 'management'],
    ['/v2/serverless/run', 'management'],
    ['/v2/templates?limit=1', 'management'],
    ['/v1/endpoints/x', 'management'],
    ['/docs/problems/rate-limited', 'management'],
    ['/openapi.json', 'management'],
    ['/job-openapi.json', 'management'],
    ['/v2/abc123/run', 'jobs'],
    ['/v2/abc123/status/some-job', 'jobs'],
    ['/v2/abc123', null],
    ['/v2/abc123/nowhere', null],
    ['/v1/other', null],
    ['/', null],
    ['', null],
  ])('%s', (path, api) => {
    expect(whichApi(path)).toBe(api);
  });
});

test('who asks the wrong one is told the address of the right one, where it is known', () => {
  const point = pointElsewhere('jobs', 'http://127.0.0.1:8000');
  expect(point('/v2/serverless')).toBe(
    'This is the job API. The management API, which has such paths, is at http://127.0.0.1:8000.',
  );
  expect(point('/v2/abc123/run')).toBeNull();
  expect(pointElsewhere('management', null)('/v2/abc123/run')).toBe(
    'This is the management API. The job API, which has such paths, has another address.',
  );
});
