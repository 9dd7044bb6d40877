import { Controller, Get, Header, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { WAIT_DEFAULT_MS, type RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { jobKeyFrom } from '../ids.js';
import { JobOperation } from '../job-rate-limits/job-operation.port.js';
import { Jobs } from '../jobs.port.js';
import { parseWait } from '../wait.js';
import { incomingRequest, type IncomingRequest } from './incoming-request.port.js';
import { healthBody } from './job-body.js';
import { JobCommands } from './job-commands.service.js';
import { JobIntake } from './job-intake.service.js';
import { JobReader } from './job-reader.service.js';
import { parseTtl } from './parse-ttl.js';

const JSON_TYPE = 'application/json; charset=utf-8';

type JobScope = 'jobs:read' | 'jobs:write';

interface JobPath {
  readonly endpointId: string;
  readonly jobId: string;
}

type WaitingRequest = FastifyRequest<{ Params: JobPath; Querystring: { readonly wait?: unknown } }>;

/**
 * The job API of an endpoint with a queue (specification, "Job operations"). Every success is 200, and reading answers
 * both verbs. Bodies are JSON text, since a result must leave as its worker wrote it.
 */
@Controller('v2/:endpointId')
export class JobsController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly intake: JobIntake,
    private readonly reader: JobReader,
    private readonly commands: JobCommands,
    private readonly jobs: Jobs,
  ) {}

  @Post('run')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:write')
  @JobOperation('run')
  async run(
    @CurrentCaller() caller: Caller,
    @Req() request: WaitingRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    return this.intake.run(await this.admit(caller, request, reply));
  }

  @Post('runsync')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:write')
  @JobOperation('runsync')
  async runSync(
    @CurrentCaller() caller: Caller,
    @Req() request: WaitingRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    const incoming = await this.admit(caller, request, reply);
    return this.intake.runSync(incoming, parseWait(request.query.wait, WAIT_DEFAULT_MS, reply));
  }

  @Get('status/:jobId')
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  @JobOperation('status')
  async status(@CurrentCaller() caller: Caller, @Param() path: JobPath, @Query('ttl') ttl: unknown): Promise<RawJson> {
    // Who may only read must not be able to end a job's life.
    await this.authorize(caller, path, ttl === undefined ? 'jobs:read' : 'jobs:write');
    const leftMs = parseTtl(ttl);
    const key = jobKeyFrom(path.endpointId, path.jobId);
    const job = leftMs === null ? await this.reader.read(key) : await this.jobs.replaceLife(key, leftMs);
    return this.reader.statusBody(job);
  }

  @Post('status/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  @JobOperation('status')
  statusByPost(@CurrentCaller() caller: Caller, @Param() path: JobPath, @Query('ttl') ttl: unknown): Promise<RawJson> {
    return this.status(caller, path, ttl);
  }

  @Get('status-sync/:jobId')
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  @JobOperation('status')
  async statusSync(
    @CurrentCaller() caller: Caller,
    @Req() { params, query }: WaitingRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    await this.authorize(caller, params, 'jobs:read');
    const key = jobKeyFrom(params.endpointId, params.jobId);
    const wait = parseWait(query.wait, WAIT_DEFAULT_MS, reply);
    const watch = this.reader.watch(key, 'end');
    try {
      return await this.reader.statusBody(await this.reader.awaitEnd(key, watch, wait));
    } finally {
      watch.dispose();
    }
  }

  @Post('status-sync/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  @JobOperation('status')
  statusSyncByPost(
    @CurrentCaller() caller: Caller,
    @Req() request: WaitingRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    return this.statusSync(caller, request, reply);
  }

  @Post('cancel/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:write')
  @JobOperation('cancel')
  async cancel(@CurrentCaller() caller: Caller, @Param() path: JobPath): Promise<RawJson> {
    await this.authorize(caller, path, 'jobs:write');
    return this.commands.cancel(jobKeyFrom(path.endpointId, path.jobId));
  }

  @Post('retry/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:write')
  @JobOperation('run')
  async retry(@CurrentCaller() caller: Caller, @Param() path: JobPath): Promise<RawJson> {
    await this.authorize(caller, path, 'jobs:write');
    return this.commands.retry(jobKeyFrom(path.endpointId, path.jobId));
  }

  @Post('purge-queue')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:write')
  @JobOperation('purge-queue')
  async purgeQueue(@CurrentCaller() caller: Caller, @Param('endpointId') endpointId: string): Promise<RawJson> {
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:write');
    return this.commands.purge(endpoint.id);
  }

  @Get('health')
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  @JobOperation('status')
  async health(@CurrentCaller() caller: Caller, @Param('endpointId') endpointId: string): Promise<RawJson> {
    const endpoint = await this.directory.authorize(caller, endpointId, 'jobs:read');
    return healthBody(await this.jobs.counts(endpoint.id), await this.directory.workerCounts(endpoint.id));
  }

  private async authorize(caller: Caller, { endpointId, jobId }: JobPath, scope: JobScope): Promise<void> {
    addToLogContext({ endpointId, jobId });
    await this.directory.authorizeQueue(caller, endpointId, scope);
  }

  private async admit(caller: Caller, request: WaitingRequest, reply: FastifyReply): Promise<IncomingRequest> {
    const { endpointId } = request.params;
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:write');
    return incomingRequest(request, reply, endpoint);
  }
}
