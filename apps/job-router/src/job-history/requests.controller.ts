import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import type { RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import { EndpointDirectory } from '../directory/index.js';
import { jobKeyFrom } from '../platform/index.js';
import { LimitedAs } from '../job-rate-limits/index.js';
import { DescribeQueueCall } from '../openapi/index.js';
import { DescribeRequestsQuery } from './describe-requests.decorator.js';
import { parseRequestsQuery } from './requests-query.js';
import { Requests } from './requests.js';

const JSON_UTF8 = 'application/json; charset=utf-8';

/** `/requests`: which jobs an endpoint has and had (API decisions 2.15). */
@Controller('v2/:endpointId/requests')
export class RequestsController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly requests: Requests,
  ) {}

  @Get()
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:read')
  @LimitedAs('requests')
  @DescribeQueueCall({ tag: 'History', summary: 'List the jobs of an endpoint', answer: 'JobRequests' })
  @DescribeRequestsQuery()
  async list(
    @CurrentCaller() caller: Caller,
    @Param('endpointId') endpointId: string,
    @Query() query: Record<string, unknown>,
  ): Promise<RawJson> {
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:read');
    return this.requests.list(endpoint, parseRequestsQuery(query));
  }

  @Get(':jobId')
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:read')
  @LimitedAs('status')
  @DescribeQueueCall({
    tag: 'History',
    summary: 'Show a job with its attempts',
    answer: 'RequestDetail',
    problems: ['job-not-found'],
  })
  async get(
    @CurrentCaller() caller: Caller,
    @Param('endpointId') endpointId: string,
    @Param('jobId') jobId: string,
  ): Promise<RawJson> {
    addToLogContext({ endpointId, jobId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:read');
    return this.requests.get(endpoint, jobKeyFrom(endpointId, jobId));
  }
}
