import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { CurrentCaller, RequireScope, traceparentOf, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { JobOperation } from '../job-rate-limits/job-operation.port.js';
import { RequestBodies } from '../request-bodies.service.js';
import { OpenAiRequests } from './openai-requests.service.js';

type OpenAiPathRequest = FastifyRequest<{ Params: { readonly endpointId: string } }>;

/**
 * What OpenAI's clients call when `/v2/{endpoint_id}/openai/v1` is their base address. Which paths there are, the
 * worker knows: each request is a job, so a `GET` needs the right to make one too.
 */
@Controller('v2/:endpointId/openai')
export class OpenAiController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly requests: OpenAiRequests,
    private readonly bodies: RequestBodies,
  ) {}

  @Post('*')
  // A streamed answer begins with it, before anybody knows how the job ends.
  @HttpCode(200)
  @RequireScope('jobs:write')
  @JobOperation('openai')
  async post(
    @CurrentCaller() caller: Caller,
    @Req() request: OpenAiPathRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { endpointId } = request.params;
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:write');
    const { body, method, url } = request;
    // The body is in the job from here on, and callers are held for long.
    request.body = undefined;
    const asked = { method, url, body: typeof body === 'string' ? body : '' };
    const read = await this.bodies.openAi(asked, endpoint.accountId);
    await this.requests.answer(reply, { ...read, endpoint, traceparent: traceparentOf(request) });
  }

  @Get('*')
  @RequireScope('jobs:write')
  @JobOperation('openai')
  get(@CurrentCaller() caller: Caller, @Req() request: OpenAiPathRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.post(caller, request, reply);
  }
}
