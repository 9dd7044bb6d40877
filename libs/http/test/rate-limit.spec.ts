import { Controller, Get, Param } from '@nestjs/common';
import { PlatformError, longestSpent, type WindowState } from '@berth/domain';
import { expect, test } from '@jest/globals';
import { Public, RequireScope } from '../src/auth/access.decorator.js';
import type { Caller } from '../src/auth/authenticator.js';
import { useEdge, type Answer } from './edge-bench.js';

@Controller('things')
@RequireScope('serverless:read')
class ThingsController {
  @Get('open')
  @Public()
  open() {
    return {};
  }

  @Get('written')
  @RequireScope('serverless:write')
  written() {
    return {};
  }

  @Get(':id')
  read(@Param('id') id: string) {
    if (id === 'broken') throw new TypeError('broken');
    if (id === 'missing') throw new PlatformError('endpoint-not-found', 'No such thing.');
    return {};
  }
}

const state: { windows: WindowState[] | null; callers: string[] } = { windows: null, callers: [] };

const bench = useEdge([ThingsController], {
  options: {
    rateLimiter: {
      admit: async ({ accountId }: Caller) => {
        state.callers.push(accountId);
        return state.windows === null ? null : { windows: state.windows, spent: longestSpent(state.windows) };
      },
    },
  },
});

const minute = (remaining: number): WindowState => ({
  name: 'minute',
  quota: 60,
  seconds: 60,
  remaining,
  resetSeconds: 12,
});
const hour = (remaining: number): WindowState => ({
  name: 'hour',
  quota: 3_000,
  seconds: 3_600,
  remaining,
  resetSeconds: 1_812,
});

const limitsOf = ({ headers }: Answer): (string | null)[] => [
  headers.get('ratelimit'),
  headers.get('ratelimit-policy'),
];

test.each([
  ['things/1', 200],
  ['things/missing', 404],
  ['things/broken', 500],
  ['things/%00', 404],
])('every answer to a good key says what is left: %s (%d)', async (path, status) => {
  state.windows = [minute(59), hour(2_999)];
  const answer = await bench.call(`GET /${path}`);
  expect(answer.status).toBe(status);
  expect(limitsOf(answer)).toEqual([
    '"minute";r=59;t=12, "hour";r=2999;t=1812',
    '"minute";q=60;w=60, "hour";q=3000;w=3600',
  ]);
});

test('so does a 403', async () => {
  state.windows = [minute(59)];
  const answer = await bench.call('GET /things/written', { key: bench.newKey(['serverless:read']) });
  expect(answer.status).toBe(403);
  expect(limitsOf(answer)).toEqual(['"minute";r=59;t=12', '"minute";q=60;w=60']);
});

test('a spent window is a 429 that says which, and how long to wait', async () => {
  state.windows = [minute(0), hour(2_999)];
  const answer = await bench.call('GET /things/1');
  expect(answer).toMatchObject({
    status: 429,
    body: { detail: 'rate limit exceeded for the minute window', type: 'https://docs.test/problems/rate-limited' },
  });
  expect(answer.headers.get('retry-after')).toBe('12');
  expect(limitsOf(answer)[0]).toBe('"minute";r=0;t=12, "hour";r=2999;t=1812');
  state.windows = [minute(0), hour(0)];
  expect((await bench.call('GET /things/1')).headers.get('retry-after')).toBe('1812');
});

test('who has no limits is told of none', async () => {
  state.windows = null;
  const answer = await bench.call('GET /things/1');
  expect([answer.status, ...limitsOf(answer)]).toEqual([200, null, null]);
});

test('nobody spends requests without a good key, or where none is needed', async () => {
  state.windows = [minute(59)];
  state.callers = [];
  const other = `${bench.newKey([]).slice(0, -1)}_`;
  for (const key of [null, other]) expect(limitsOf(await bench.call('GET /things/1', { key }))).toEqual([null, null]);
  const open = await bench.call('GET /things/open');
  expect([open.status, ...limitsOf(open)]).toEqual([200, null, null]);
  const unknown = await bench.call('GET /nothing');
  expect([unknown.status, ...limitsOf(unknown)]).toEqual([404, null, null]);
  expect(state.callers).toEqual([]);
});
