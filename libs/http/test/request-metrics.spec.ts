import { Controller, Get, Param, Res } from '@nestjs/common';
import { eventually } from '@berth/testing';
import { expect, test } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { Public } from '../src/auth/access.decorator.js';
import { blameWorker } from '../src/app/request-fault.js';
import { useEdge } from './edge-bench.js';

@Controller('answers')
@Public()
class AnswersController {
  @Get(':status')
  async answer(@Param('status') status: string, @Res() reply: FastifyReply) {
    await reply.status(Number(status)).send('');
  }

  @Get('of-worker/:status')
  async pass(@Param('status') status: string, @Res() reply: FastifyReply) {
    blameWorker(reply.request);
    await reply.status(Number(status)).send('');
  }
}

const bench = useEdge([AnswersController]);

test.each([
  ['/answers/200', '200', 'none'],
  ['/answers/404', '404', 'caller'],
  ['/answers/503', '503', 'platform'],
  ['/answers/of-worker/500', '500', 'worker'],
  ['/answers/of-worker/404', '404', 'caller'],
  ['/answers/of-worker/577', '5xx', 'worker'],
  ['/answers/of-worker/299', '2xx', 'none'],
])('a request is counted by a registered status and by whose fault it was: %s', async (path, status, fault) => {
  await bench.call(`GET ${path}`);
  await eventually(async () => {
    const lines = (await bench.metrics.text()).split('\n').filter((line) => line.startsWith('berth_http_request_sec'));
    const [route] = path.match(/^\/answers(\/of-worker)?/) ?? [];
    const labels = `method="GET",route="${route}/:status",status="${status}",fault="${fault}"`;
    expect(lines).toContain(`berth_http_request_seconds_count{${labels}} 1`);
  });
});
