import { Controller, Get, Query, Req, Res, applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { EndpointLogsQueryDto, WorkerLogsQueryDto } from '@berth/contracts/http';
import type { EndpointId, WorkerId } from '@berth/domain';
import { ApiProblems, RequireScope, callerOf, checkedParameter, type StreamedAnswers } from '@berth/http';
import { WorkerLogsService, type LogQuestion } from './worker-logs-service.js';

type Request = Parameters<typeof callerOf>[0];
type Reply = Parameters<StreamedAnswers['begin']>[0];

/** Whose log it is, and where the reader has been. */
function placeIn({ headers, params }: Request): Pick<LogQuestion, 'endpointId' | 'workerId' | 'lastEventId'> {
  const { id, workerId } = params as { readonly id: EndpointId; readonly workerId?: WorkerId };
  const lastEventId = headers['last-event-id'];
  return {
    endpointId: checkedParameter(id),
    workerId: checkedParameter(workerId) ?? null,
    lastEventId: Array.isArray(lastEventId) ? lastEventId[0] : lastEventId,
  };
}

/** What both streams have in common. */
const DescribeLogStream = (id: string): MethodDecorator =>
  applyDecorators(
    ApiHeader({
      name: 'Last-Event-ID',
      required: false,
      description: 'Goes on behind this event, as browsers send it; it counts before `tail` and `since`.',
      schema: { type: 'string', maxLength: 4_096 },
      example: id,
    }),
    ApiOkResponse({
      description: 'Server-sent events, until the reader leaves.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }),
  );

@ApiTags('Workers')
@Controller('v2/serverless/:id')
export class WorkerLogsController {
  readonly #logs: WorkerLogsService;

  constructor(logs: WorkerLogsService) {
    this.#logs = logs;
  }

  @Get('workers/:workerId/logs')
  @RequireScope('serverless:read')
  @ApiOperation({
    summary: 'Follow the log of a worker',
    description: [
      'Each event has `data: {"ts", "source", "line"}`: what the container printed, and as `system` what Berth says of the',
      'worker, from the pull of its image to its end. The log of a worker that is gone can be read as long as its host',
      'keeps it. After the last line of such a worker comes an event `end`. Lines that are missing are told and counted.',
    ].join(' '),
  })
  @DescribeLogStream('2026-06-01T12:05:04.000Z/000000000042')
  @ApiProblems('endpoint-not-found', 'worker-not-found', 'invalid-query', 'invalid-header', 'limit-reached')
  ofWorker(@Query() query: WorkerLogsQueryDto, @Req() request: Request, @Res() reply: Reply): Promise<void> {
    return this.#logs.serve(callerOf(request), { ...placeIn(request), query }, reply);
  }

  @Get('logs')
  @RequireScope('serverless:read')
  @ApiOperation({
    summary: 'Follow the logs of all workers of an endpoint',
    description: [
      'As the log of one worker; each event also has the `workerId`, and the `jobId` where it is known. It follows at most',
      '64 workers at a time, those that are there first, and goes on when workers come and go. `tail` and `since` count for',
      'each worker by itself. An event `end` comes when the endpoint is deleted.',
    ].join(' '),
  })
  @DescribeLogStream('2026-06-01T12:05:04.000Z/000000000042/k3v9x0q2m7a1zd:16')
  @ApiProblems('endpoint-not-found', 'invalid-query', 'invalid-header', 'limit-reached')
  ofEndpoint(@Query() query: EndpointLogsQueryDto, @Req() request: Request, @Res() reply: Reply): Promise<void> {
    return this.#logs.serve(callerOf(request), { ...placeIn(request), query }, reply);
  }
}
