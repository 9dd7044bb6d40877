import { Controller, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { jobKeyFrom } from '../ids.js';
import { Platform } from '../platform.port.js';
import { parseWait } from '../wait.js';
import { JobStream } from './job-stream.service.js';
import { ReaderCursors } from './reader-cursors.js';
import { formatCursor, parseCursor } from './stream-cursor.js';

import { chooseRendering, renderStream } from './stream-rendering.js';

/** An empty stream is held this long by default: below the 10 s after which one official client gives up. */
const HOLD_DEFAULT_MS = 8_000;

interface StreamPath {
  readonly endpointId: string;
  readonly jobId: string;
}

type StreamRequest = FastifyRequest<{
  Params: StreamPath;
  Querystring: { readonly wait?: unknown; readonly format?: unknown; readonly cursor?: unknown };
}>;

/** `/stream`: one reading, two renderings (wire contract 2.7). */
@Controller('v2/:endpointId/stream')
export class JobStreamController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly stream: JobStream,
    private readonly cursors: ReaderCursors,
    private readonly platform: Platform,
  ) {}

  @Get(':jobId')
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('vary', 'Content-Type, User-Agent')
  @RequireScope('jobs:read')
  async read(
    @CurrentCaller() caller: Caller,
    @Req() request: StreamRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    const { endpointId, jobId } = request.params;
    addToLogContext({ endpointId, jobId });
    await this.directory.authorizeQueue(caller, endpointId, 'jobs:read');
    const key = jobKeyFrom(endpointId, jobId);
    const { query, headers, method, body } = request;
    const asker = {
      format: query.format,
      method,
      contentType: headers['content-type'],
      userAgent: headers['user-agent'],
      hasBody: typeof body === 'string' && body !== '',
    };
    const rendering = chooseRendering(asker, this.platform.settings.streamFormat);
    const isReplay = query.cursor !== undefined;
    const cursor = isReplay ? parseCursor(query.cursor) : this.cursors.read(key, caller.keyId);
    const batch = await this.stream.read(key, cursor, parseWait(query.wait, HOLD_DEFAULT_MS, reply));
    // Only what has left for the reader moves its place: a connection that breaks costs nobody a chunk.
    if (!isReplay) reply.raw.once('finish', () => this.cursors.advance(key, caller.keyId, batch.next));
    void reply.header('berth-job-status', batch.status).header('berth-next-cursor', formatCursor(batch.next));
    return renderStream(batch, rendering);
  }

  @Post(':jobId')
  @HttpCode(200)
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('vary', 'Content-Type, User-Agent')
  @RequireScope('jobs:read')
  readByPost(
    @CurrentCaller() caller: Caller,
    @Req() request: StreamRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RawJson> {
    return this.read(caller, request, reply);
  }
}
