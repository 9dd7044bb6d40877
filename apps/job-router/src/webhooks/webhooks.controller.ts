import { Controller, Get, Header, Param } from '@nestjs/common';
import { encodeJson, type RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import { EndpointDirectory } from '../directory/endpoint-directory.js';
import { jobKeyFrom } from '../platform/ids.js';
import { JobOperation } from '../job-rate-limits/job-operation.decorator.js';
import { Jobs } from '../edge/jobs.port.js';
import { DescribeQueueCall } from '../openapi/describe-operation.decorator.js';
import { Platform } from '../platform/platform.js';
import { deliveryBody } from './delivery-body.js';

interface JobPath {
  readonly endpointId: string;
  readonly jobId: string;
}

/** What became of the webhooks of a job. */
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
  @JobOperation('status')
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
