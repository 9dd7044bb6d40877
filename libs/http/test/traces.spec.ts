import { Controller, Get, Req } from '@nestjs/common';
import { RecordedTraces, type Span } from '@berth/telemetry';
import { ManualClock, SeededRandom, eventually } from '@berth/testing';
import { expect, test } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { traceparentOf } from '../src/app/request-context.js';
import { RequireScope } from '../src/auth/access.decorator.js';
import { useEdge } from './edge-bench.js';

@Controller('things')
@RequireScope('serverless:read')
class ThingsController {
  @Get()
  read(@Req() request: FastifyRequest) {
    return { traceparent: traceparentOf(request) };
  }
}

const spans: Span[] = [];
const traces = new RecordedTraces({
  sink: (span) => spans.push(span),
  ...{ clock: new ManualClock(), random: new SeededRandom(1), permille: 0 },
});
const bench = useEdge([ThingsController], { options: { traces } });

test('requests without a good key take nothing from those with one that are to be recorded', async () => {
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
  for (let count = 0; count < 120; count += 1) await bench.call('GET /things', { key: null, headers });
  const { body } = await bench.call('GET /things', { headers });
  expect(body.traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/);
  await eventually(() => expect(spans).toHaveLength(11));
  const told = spans.map(({ attributes }) => attributes?.['http.response.status_code']);
  expect(told.filter((status) => status === 401)).toHaveLength(10);
});
