import { Controller, Get, Header, Param } from '@nestjs/common';
import { encodeJson, type RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import { EndpointDirectory } from '../directory/index.js';
import { jobKeyFrom, Platform } from '../platform/index.js';
import { LimitedAs } from '../job-rate-limits/index.js';
import { Jobs } from '../edge/index.js';
import { DescribeQueueCall } from '../openapi/index.js';
import { deliveryBody } from './delivery-body.js';

interface JobPath {
  readonly endpointId: string;
  readonly jobId: string;
}

/** The deliveries of the webhooks of a job. */
@Controller('v2/:endpointId/webhooks')
export class WebhooksController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly jobs: Jobs,
    private readonly platform: Platform,
  ) {}

  @Get(':jobId')
  @Header('content-type', 'application/json; charset=utf-8')
  @RequireScope('jobs:read')
  @LimitedAs('status')
  @DescribeQueueCall({
    tag: 'History',
    summary: 'Show what became of the webhooks of a job',
    answer: 'WebhookDeliveries',
    problems: ['job-not-found'],
  })
  async read(@CurrentCaller() caller: Caller, @Param() { endpointId, jobId }: JobPath): Promise<RawJson> {
    addToLogContext({ endpointId, jobId });
    await this.directory.authorizeQueue(caller, endpointId, 'jobs:read');
    const deliveries = await this.jobs.deliveries(jobKeyFrom(endpointId, jobId));
    const nowMs = this.platform.clock.nowMs();
    return encodeJson({ deliveries: deliveries.map((delivery) => deliveryBody(delivery, nowMs)) });
  }
}
