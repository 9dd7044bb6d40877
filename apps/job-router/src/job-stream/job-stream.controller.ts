import { Controller, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { JobKey, RawJson } from '@berth/domain';
import { CurrentCaller, RequireScope, StreamedAnswers, type Caller } from '@berth/http';
import { addToLogContext } from '@berth/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EndpointDirectory } from '../directory/index.js';
import { jobKeyFrom, Platform } from '../platform/index.js';
import { LimitedAs } from '../job-rate-limits/index.js';
import { DescribeStream } from '../openapi/index.js';
import { parseWait, type Wait } from '../jobs/index.js';
import { EventStreams } from './event-streams.js';
import { JobStream, type StreamBatch } from './job-stream.js';
import { ReaderPlaces } from './reader-places.js';
import { GIVEN_START, formatCursor, givenCursor, type GivenCursor } from './stream-cursor.js';
import {
  chooseRendering,
  renderStream,
  shownStatus,
  type StreamAsker,
  type StreamRendering,
} from './stream-rendering.js';

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

/** One read by somebody who asked for JSON. */
interface PlainRead {
  readonly key: JobKey;
  readonly asker: StreamAsker;
  readonly rendering: Exclude<StreamRendering, 'events'>;
}

/** `/stream`: one reading, three renderings (wire contract 2.7). */
@Controller('v2/:endpointId/stream')
export class JobStreamController {
  constructor(
    private readonly directory: EndpointDirectory,
    private readonly stream: JobStream,
    private readonly events: EventStreams,
    private readonly places: ReaderPlaces,
    private readonly answers: StreamedAnswers,
    private readonly platform: Platform,
  ) {}

  @Get(':jobId')
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('vary', 'Accept, Content-Type, User-Agent')
  @RequireScope('jobs:read')
  @LimitedAs('stream')
  @DescribeStream(HOLD_DEFAULT_MS)
  async read(
    @CurrentCaller() caller: Caller,
    @Req() request: StreamRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { endpointId, jobId } = request.params;
    addToLogContext({ endpointId, jobId });
    await this.directory.authorizeQueue(caller, endpointId, 'jobs:read');
    const key = jobKeyFrom(endpointId, jobId);
    const asker = askerOf(request);
    const rendering = chooseRendering(asker, this.platform.settings.streamFormat);
    const given = givenCursor(request.query.cursor, request.headers['last-event-id']);
    if (rendering === 'events') return this.events.serve(reply, key, given ?? GIVEN_START);
    const wanted = { key, asker, rendering };
    return given === null ? this.readOn(wanted, caller.keyId, reply) : this.replay(wanted, given, reply);
  }

  @Post(':jobId')
  @HttpCode(200)
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('vary', 'Accept, Content-Type, User-Agent')
  @RequireScope('jobs:read')
  @LimitedAs('stream')
  @DescribeStream(HOLD_DEFAULT_MS)
  readByPost(
    @CurrentCaller() caller: Caller,
    @Req() request: StreamRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.read(caller, request, reply);
  }

  /** Changes nothing: the reader knows its place. */
  private async replay(wanted: PlainRead, cursor: GivenCursor, reply: FastifyReply): Promise<void> {
    const batch = await this.stream.read(wanted.key, cursor, waitOf(reply));
    await reply.send(answerOf(wanted, batch, reply));
  }

  /** The reader's place moves on once the chunks have left, and before it can know that it has them all. */
  private async readOn(wanted: PlainRead, keyId: string, reply: FastifyReply): Promise<void> {
    const reader = { ...wanted.key, keyId };
    const place = await this.places.find(reader);
    const batch = await this.stream.read(wanted.key, place.cursor, waitOf(reply));
    await this.answers.send(reply, answerOf(wanted, batch, reply), () =>
      this.places.advance(reader, place, batch.next),
    );
  }
}

function askerOf({ body, headers, method, query }: StreamRequest): StreamAsker {
  return {
    format: query.format,
    method,
    accept: headers.accept,
    contentType: headers['content-type'],
    userAgent: headers['user-agent'],
    hasBody: typeof body === 'string' && body !== '',
  };
}

const waitOf = (reply: FastifyReply): Wait =>
  parseWait((reply.request as StreamRequest).query.wait, HOLD_DEFAULT_MS, reply);

function answerOf({ asker, rendering }: PlainRead, batch: StreamBatch, reply: FastifyReply): RawJson {
  void reply.header('berth-job-status', batch.status).header('berth-next-cursor', formatCursor(batch.next));
  return renderStream({ ...batch, status: shownStatus(batch.status, asker) }, rendering);
}
