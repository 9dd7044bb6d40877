import { Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointDirectory } from '../directory/index.js';
import { LimitedAs } from '../job-rate-limits/index.js';
import { incomingRequest } from '../jobs/index.js';
import { DescribeBody, DescribeIdempotencyKey, DescribeQueueCall } from '../openapi/index.js';
import { RunBatch } from './run-batch.js';

/** Many jobs by one request. Each of them counts against the limit of `/run`. */
@Controller('v2/:endpointId')
export class RunBatchController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly batches: RunBatch,
  ) {}

  @Post('run-batch')
  @HttpCode(200)
  @Header('content-type', 'application/json; charset=utf-8')
  @RequireScope('jobs:write')
  @LimitedAs('run')
  @DescribeQueueCall({
    tag: 'Jobs',
    summary: 'Submit many jobs',
    description: 'A request that is malformed refuses the list; one that cannot be accepted now is told in its place.',
    answer: 'AcceptedJobs',
    problems: ['limit-reached'],
  })
  @DescribeBody('JobBatch')
  @DescribeIdempotencyKey()
  async run(
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest<{ Params: { readonly endpointId: string } }>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    const { endpointId } = request.params;
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:write');
    return this.batches.run(incomingRequest(request, reply, endpoint));
  }
}
