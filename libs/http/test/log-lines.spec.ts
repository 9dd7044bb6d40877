import { Controller, Get, Param } from '@nestjs/common';
import { PlatformError } from '@berth/domain';
import { silentLogger, type LogFields } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { beforeEach, expect, test } from '@jest/globals';
import { Public, RequireScope } from '../src/auth/access.decorator.js';
import { useEdge } from './edge-bench.js';

@Controller('things')
@RequireScope('serverless:read')
class ThingsController {
  @Get(':id')
  read(@Param('id') id: string) {
    if (id === 'missing') throw new PlatformError('endpoint-not-found', 'No such thing.');
    if (id === 'busy') throw new PlatformError('service-unavailable', 'Not now.');
    throw new TypeError('broken');
  }
}

@Controller('open')
@Public()
class OpenController {
  @Get()
  read() {
    throw new PlatformError('service-unavailable', 'Not now.');
  }
}

const lines: (LogFields & { level: string })[] = [];
const write =
  (level: string) =>
  (_: string, fields: LogFields = {}): void => {
    lines.push({ ...fields, level });
  };
const logger = { ...silentLogger, debug: write('debug'), warn: write('warn'), error: write('error') };
const clock = new ManualClock();
const bench = useEdge([ThingsController, OpenController], { options: { logger, clock } });

beforeEach(async () => {
  lines.length = 0;
  await clock.advance(60_000);
});
const of = (level: string): number => lines.filter((line) => line.level === level).length;

test.each([
  ['missing', 404, ['debug']],
  ['busy', 503, ['warn', 'debug']],
  ['broken', 500, ['error', 'debug']],
])('a problem’s instance is the id under which the log has the request: %s', async (id, status, levels) => {
  const { body, headers } = await bench.call(`GET /things/${id}`);
  expect(body).toMatchObject({ status, instance: headers.get('x-request-id') });
  await eventually(() => {
    const ofRequest = lines.filter(({ requestId }) => requestId === body.instance);
    expect(ofRequest.map(({ level }) => level)).toEqual(levels);
  });
});

test('requests without a good key have ten lines a second, and the next one says how many were left out', async () => {
  for (let count = 0; count < 30; count += 1) await bench.call('GET /open', { key: null });
  for (let count = 0; count < 12; count += 1) await bench.call('GET /things/busy');
  await eventually(() => {
    expect(of('debug')).toBe(10 + 12);
  });
  expect(of('warn')).toBe(10 + 12);
  await clock.advance(1_000);
  await bench.call('GET /open', { key: null });
  await eventually(() => {
    expect(lines.slice(-2)).toMatchObject([
      { level: 'warn', leftOut: 20 },
      { level: 'debug', leftOut: 20 },
    ]);
  });
});
