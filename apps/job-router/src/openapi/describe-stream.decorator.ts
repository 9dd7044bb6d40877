import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { ApiProblems, headerReferences } from '@berth/http';
import { DescribeWait } from './describe-operation.decorator.js';
import { EVENT_HEADERS } from './job-headers.js';

const VARY = {
  description: 'What of the request chooses the rendering.',
  required: true,
  schema: { type: 'string', const: 'Accept, Content-Type, User-Agent' },
} as const;

const CURSOR = { type: 'string', pattern: '^a\\d{1,9}-\\d{1,9}(-end)?$' } as const;

/** `/stream` in its renderings (wire contract 2.7). @param waitMs how long an empty one is held by default */
export const DescribeStream = (waitMs: number): MethodDecorator =>
  applyDecorators(
    ApiTags('Streams'),
    ApiOperation({ summary: 'Read what a job streams', description: DESCRIPTION }),
    DescribeWait(waitMs),
    ...PARAMETERS,
    ApiOkResponse({
      headers: {
        ...(headerReferences(['Berth-Job-Status', 'Berth-Next-Cursor', ...EVENT_HEADERS]) as Record<
          string,
          { $ref: string }
        >),
        Vary: VARY,
      },
      content: {
        'application/json': { schema: { anyOf: [ref('StreamChunks'), ref('JobStream')] } },
        'text/event-stream': {
          schema: { type: 'string' },
          examples: { full: { summary: 'Two chunks of a job that is done', value: EVENTS } },
        },
      },
    }),
    ApiNoContentResponse({
      description: 'The reader has been told the end: there is nothing to come back for.',
      headers: { Vary: VARY },
    }),
    ApiProblems('endpoint-not-found', 'wrong-endpoint-type', 'job-not-found', 'invalid-header', 'limit-reached'),
  );

const PARAMETERS: readonly MethodDecorator[] = [
  ApiQuery({
    name: 'format',
    required: false,
    description: 'The rendering; else it is chosen by who asks.',
    schema: { type: 'string', enum: ['array', 'object', 'sse'] },
    example: 'object',
  }),
  ApiQuery({
    name: 'cursor',
    required: false,
    description: 'Where to go on, as an answer of this path named it. A read with it moves nobody’s place.',
    schema: CURSOR,
    example: 'a1-3',
  }),
  ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'The same, as browsers send it; it counts before `cursor`.',
    schema: CURSOR,
    example: 'a1-3',
  }),
];

const EVENTS = [
  'id: a1-1\ndata: {"output":"Hel","metrics":{}}\n\n',
  'id: a1-2\ndata: {"output":"lo","metrics":{}}\n\n',
  'event: status\nid: a1-2-end\ndata: {"status":"COMPLETED"}\n\n',
].join('');

const ref = (name: string): { readonly $ref: string } => ({ $ref: `#/components/schemas/${name}` });

const DESCRIPTION = [
  'The chunks that are new to the key that reads, as a list; as an object beside the status, for official clients; or as',
  'server-sent events until the job ends. Where there is nothing yet, the answer is held. An event of a chunk has the',
  'cursor behind it as its `id`; `attempt` says that the job was queued again and what came before is void, `status`',
  'how the job ended, `problem` that it is no more.',
].join(' ');
