import { Controller, Get, Header, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { WAIT_DEFAULT_MS, type RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, traceparentOf, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { jobKeyFrom } from '../ids.js';
import { parseWait } from '../wait.js';
import { JobCancel } from './job-cancel.service.js';
import { JobHealth } from './job-health.service.js';
import { JobIntake, type IncomingRequest } from './job-intake.service.js';
import { JobReader } from './job-reader.service.js';

const JSON_TYPE = 'application/json; charset=utf-8';

type JobScope = 'jobs:read' | 'jobs:write';

interface JobPath {
  readonly endpointId: string;
  readonly jobId: string;
}

type WaitingRequest = FastifyRequest<{ Params: JobPath; Querystring: { readonly wait?: unknown } }>;

/** The text as it came, since the edge leaves bodies unparsed; the request lets go of it. */
function takeBody(request: WaitingRequest): string {
  const { body } = request;
  request.body = undefined;
  return typeof body === 'string' ? body : '';
}

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
    private readonly cancelling: JobCancel,
    private readonly healths: JobHealth,
  ) {}

  @Post('run')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:write')
  async run(@CurrentCaller() caller: Caller, @Req() request: WaitingRequest): Promise<RawJson> {
    return this.intake.run(await this.admit(caller, request));
  }

  @Post('runsync')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:write')
  async runSync(
    @CurrentCaller() caller: Caller,
    @Req() request: WaitingRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    const incoming = await this.admit(caller, request);
    return this.intake.runSync(incoming, parseWait(request.query.wait, WAIT_DEFAULT_MS, reply));
  }

  @Get('status/:jobId')
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  async status(@CurrentCaller() caller: Caller, @Param() path: JobPath): Promise<RawJson> {
    await this.authorize(caller, path, 'jobs:read');
    return this.reader.statusBody(await this.reader.read(jobKeyFrom(path.endpointId, path.jobId)));
  }

  @Post('status/:jobId')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  statusByPost(@CurrentCaller() caller: Caller, @Param() path: JobPath): Promise<RawJson> {
    return this.status(caller, path);
  }

  @Get('status-sync/:jobId')
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  async statusSync(
    @CurrentCaller() caller: Caller,
    @Req() { params, query }: WaitingRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    await this.authorize(caller, params, 'jobs:read');
    const key = jobKeyFrom(params.endpointId, params.jobId);
    const wait = parseWait(query.wait, WAIT_DEFAULT_MS, reply);
    const watch = this.reader.watch(key);
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
  async cancel(@CurrentCaller() caller: Caller, @Param() path: JobPath): Promise<RawJson> {
    await this.authorize(caller, path, 'jobs:write');
    return this.cancelling.cancel(jobKeyFrom(path.endpointId, path.jobId));
  }

  @Get('health')
  @Header('content-type', JSON_TYPE)
  @RequireScope('jobs:read')
  async health(@CurrentCaller() caller: Caller, @Param('endpointId') endpointId: string): Promise<RawJson> {
    const endpoint = await this.directory.authorize(caller, endpointId, 'jobs:read');
    return this.healths.read(endpoint.id);
  }

  private async authorize(caller: Caller, { endpointId, jobId }: JobPath, scope: JobScope): Promise<void> {
    addToLogContext({ endpointId, jobId });
    await this.directory.authorizeQueue(caller, endpointId, scope);
  }

  private async admit(caller: Caller, request: WaitingRequest): Promise<IncomingRequest> {
    const { endpointId } = request.params;
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:write');
    return { takeBody: () => takeBody(request), endpoint, traceparent: traceparentOf(request) };
  }
}
