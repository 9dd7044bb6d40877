import { Controller, Get, Param } from '@nestjs/common';
import { PlatformError } from '@berth/domain';
import { silentLogger, type LogFields } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { RequireScope } from '../src/auth/access.decorator.js';
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

const lines: (LogFields & { level: string })[] = [];
const write =
  (level: string) =>
  (_: string, fields: LogFields = {}): void => {
    lines.push({ ...fields, level });
  };
const logger = { ...silentLogger, debug: write('debug'), warn: write('warn'), error: write('error') };
const bench = useEdge([ThingsController], { options: { logger } });

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
