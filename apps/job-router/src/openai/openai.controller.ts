import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, takeBody, traceparentOf, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointDirectory } from '../directory/index.js';
import { LimitedAs } from '../job-rate-limits/index.js';
import { DescribeOpenAi } from '../openapi/index.js';
import { RequestBodies } from '../request-bodies/index.js';
import { OpenAiRequests, type IncomingOpenAiRequest } from './openai-requests.js';

type TakenRequest = Pick<IncomingOpenAiRequest, 'isStreamed' | 'takeInput' | 'onStored'>;
type OpenAiPathRequest = FastifyRequest<{ Params: { readonly endpointId: string } }>;

/**
 * The paths that OpenAI's clients call when `/v2/{endpoint_id}/openai/v1` is their base address. The worker knows which
 * there are: each request is a job, so a `GET` needs the right to make one too.
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
  @LimitedAs('openai')
  @DescribeOpenAi({ hasBody: true })
  async post(
    @CurrentCaller() caller: Caller,
    @Req() request: OpenAiPathRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { endpointId } = request.params;
    addToLogContext({ endpointId });
    const endpoint = await this.directory.authorizeQueue(caller, endpointId, 'jobs:write');
    const asked = await this.#take(request, endpoint.accountId);
    try {
      await this.requests.answer(reply, { ...asked, endpoint, traceparent: traceparentOf(request) });
    } finally {
      asked.onStored();
    }
  }

  @Get('*')
  @RequireScope('jobs:write')
  @LimitedAs('openai')
  @DescribeOpenAi({ hasBody: false })
  get(@CurrentCaller() caller: Caller, @Req() request: OpenAiPathRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.post(caller, request, reply);
  }
  /** Apart, so that nothing here refers to the body while its caller is held. */
  async #take(request: OpenAiPathRequest, accountId: string): Promise<TakenRequest> {
    const { method, url } = request;
    const { text, done } = takeBody(request);
    try {
      const { input, isStreamed } = await this.bodies.openAi({ method, url, body: text }, accountId);
      return { isStreamed, takeInput: handingOver(input), onStored: done };
    } catch (error) {
      done();
      throw error;
    }
  }
}

/** Refers to the text until it has handed it over. */
function handingOver(text: RawJson): () => RawJson {
  const left = [text];
  return () => left.pop() as RawJson;
}
