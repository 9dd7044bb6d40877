import { Controller, Get, Header, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { StatusQueryDto } from '@berth/contracts/http';
import { WAIT_DEFAULT_MS, type RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, callerOf, checkedParameter, readQuery, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointDirectory } from '../directory/index.js';
import { jobKeyFrom } from '../platform/index.js';
import { LimitedAs } from '../job-rate-limits/index.js';
import { Jobs } from '../edge/index.js';
import { RequestTotals } from '../load-balancer/index.js';
import {
  DescribeBody,
  DescribeEndpointCall,
  DescribeIdempotencyKey,
  DescribeQueueCall,
  DescribeStatus,
  DescribeWait,
} from '../openapi/index.js';
import { parseWait } from './wait.js';
import { incomingRequest, type IncomingRequest } from './incoming-request.js';
import { healthBody } from './job-body.js';
import { JobCommands } from './job-commands.js';
import { JobIntake } from './job-intake.js';
import { JobReader } from './job-reader.js';

const JSON_UTF8 = 'application/json; charset=utf-8';

type JobScope = 'jobs:read' | 'jobs:write';

interface JobPath {
  readonly endpointId: string;
  readonly jobId: string;
}

type JobCall = FastifyRequest<{
  Params: JobPath;
  Querystring: { readonly wait?: unknown; readonly ttl?: unknown; readonly debug?: unknown };
}>;

/**
 * The job API of an endpoint with a queue (API decisions 2). Every success is 200, and reading answers
 * both verbs. Bodies are JSON text, since a result must leave as its worker wrote it. Handlers that are called often take
 * the request itself: each parameter of a pipe costs a promise.
 */
@Controller('v2/:endpointId')
export class JobsController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly intake: JobIntake,
    private readonly reader: JobReader,
    private readonly commands: JobCommands,
    private readonly jobs: Jobs,
    private readonly totals: RequestTotals,
  ) {}

  @Post('run')
  @HttpCode(200)
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:write')
  @LimitedAs('run')
  @DescribeQueueCall({ tag: 'Jobs', summary: 'Submit a job', answer: 'BriefJob', problems: ['limit-reached'] })
  @DescribeBody('JobRequest')
  @DescribeIdempotencyKey()
  async run(@Req() request: JobCall, @Res({ passthrough: true }) reply: FastifyReply): Promise<RawJson> {
    return this.intake.run(await this.admit(request, reply));
  }

  @Post('runsync')
  @HttpCode(200)
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:write')
  @LimitedAs('runsync')
  @DescribeQueueCall({
    tag: 'Jobs',
    summary: 'Submit a job and wait for its end',
    description: 'A job that has not ended when the wait is over is answered as it is then.',
    answer: 'JobStatus',
    problems: ['limit-reached'],
  })
  @DescribeBody('JobRequest')
  @DescribeWait(WAIT_DEFAULT_MS)
  @DescribeIdempotencyKey()
  async runSync(@Req() request: JobCall, @Res({ passthrough: true }) reply: FastifyReply): Promise<RawJson> {
    const incoming = await this.admit(request, reply);
    return this.intake.runSync(incoming, parseWait(request.query.wait, WAIT_DEFAULT_MS, reply));
  }

  @Get('status/:jobId')
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:read')
  @LimitedAs('status')
  @DescribeStatus()
  async status(@Req() request: JobCall): Promise<RawJson> {
    const { endpointId, jobId } = request.params;
    const { debug, ttl } = request.query;
    checkedParameter(jobId);
    // A caller that may only read must not be able to end a job's life.
    await this.authorize(request, ttl === undefined ? 'jobs:read' : 'jobs:write');
    const { debug: wantsTrace = false, ttl: leftMs } = readQuery(StatusQueryDto, { debug, ttl });
    const key = jobKeyFrom(endpointId, jobId);
    if (leftMs !== undefined) await this.jobs.replaceLife(key, leftMs);
    return this.reader.statusBody(await this.reader.read(key, { wantsTrace }));
  }

  @Post('status/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:read')
  @LimitedAs('status')
  @DescribeStatus()
  statusByPost(@Req() request: JobCall): Promise<RawJson> {
    return this.status(request);
  }

  @Get('status-sync/:jobId')
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:read')
  @LimitedAs('status')
  @DescribeQueueCall({
    tag: 'Jobs',
    summary: 'Wait for the end of a job',
    answer: 'JobStatus',
    problems: ['job-not-found', 'limit-reached'],
  })
  @DescribeWait(WAIT_DEFAULT_MS)
  async statusSync(@Req() request: JobCall, @Res({ passthrough: true }) reply: FastifyReply): Promise<RawJson> {
    await this.authorize(request, 'jobs:read');
    const key = jobKeyFrom(request.params.endpointId, request.params.jobId);
    const wait = parseWait(request.query.wait, WAIT_DEFAULT_MS, reply);
    const watch = this.reader.watch(key, 'end');
    try {
      return await this.reader.statusBody(await this.reader.awaitEnd(key, watch, wait));
    } finally {
      watch.dispose();
    }
  }

  @Post('status-sync/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:read')
  @LimitedAs('status')
  @DescribeQueueCall({
    tag: 'Jobs',
    summary: 'Wait for the end of a job',
    answer: 'JobStatus',
    problems: ['job-not-found', 'limit-reached'],
  })
  @DescribeWait(WAIT_DEFAULT_MS)
  statusSyncByPost(@Req() request: JobCall, @Res({ passthrough: true }) reply: FastifyReply): Promise<RawJson> {
    return this.statusSync(request, reply);
  }

  @Post('cancel/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:write')
  @LimitedAs('cancel')
  @DescribeQueueCall({
    tag: 'Jobs',
    summary: 'Cancel a job',
    description: 'A job that has ended answers with the status that it has.',
    answer: 'BriefJob',
    problems: ['job-not-found'],
  })
  async cancel(@Req() request: JobCall): Promise<RawJson> {
    const { endpointId, jobId } = request.params;
    checkedParameter(jobId);
    await this.authorize(request, 'jobs:write');
    return this.commands.cancel(jobKeyFrom(endpointId, jobId));
  }

  @Post('retry/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:write')
  @LimitedAs('run')
  @DescribeQueueCall({
    tag: 'Jobs',
    summary: 'Try a failed job again',
    answer: 'BriefJob',
    problems: ['job-not-found', 'job-not-retriable', 'limit-reached'],
  })
  async retry(@Req() request: JobCall): Promise<RawJson> {
    const { endpointId, jobId } = request.params;
    checkedParameter(jobId);
    await this.authorize(request, 'jobs:write');
    return this.commands.retry(jobKeyFrom(endpointId, jobId));
  }

  @Post('purge-queue')
  @HttpCode(200)
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:write')
  @LimitedAs('purge-queue')
  @DescribeQueueCall({ tag: 'Queue', summary: 'Remove all jobs that wait', answer: 'PurgedQueue' })
  async purgeQueue(@CurrentCaller() caller: Caller, @Param('endpointId') endpointId: string): Promise<RawJson> {
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:write');
    return this.commands.purge(endpoint.id);
  }

  @Get('health')
  @Header('content-type', JSON_UTF8)
  @RequireScope('jobs:read')
  @LimitedAs('status')
  @DescribeEndpointCall({
    tag: 'Queue',
    summary: 'Count the jobs and workers of an endpoint',
    answer: 'EndpointHealth',
  })
  async health(@CurrentCaller() caller: Caller, @Param('endpointId') endpointId: string): Promise<RawJson> {
    const endpoint = await this.directory.authorize(caller, endpointId, 'jobs:read');
    const counts = await this.jobs.counts(endpoint.id);
    const workers = await this.directory.workerCounts(endpoint.id);
    if (endpoint.type === 'QUEUE') return healthBody(counts, workers);
    const { held, inFlight } = this.totals.of(endpoint.id);
    return healthBody({ ...counts, inQueue: held, inProgress: inFlight }, workers);
  }

  private async authorize(request: JobCall, scope: JobScope): Promise<void> {
    const { endpointId, jobId } = request.params;
    addToLogContext({ endpointId, jobId });
    await this.directory.authorizeQueue(callerOf(request), endpointId, scope);
  }

  private async admit(request: JobCall, reply: FastifyReply): Promise<IncomingRequest> {
    const { endpointId } = request.params;
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(callerOf(request), endpointId, 'jobs:write');
    return incomingRequest(request, reply, endpoint);
  }
}
