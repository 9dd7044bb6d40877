import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems, headerReferences } from '@berth/http';
import { EVENT_HEADERS } from './job-headers.js';

const ANYTHING = { type: 'object', additionalProperties: true } as const;
const CHAT = { model: 'llama', messages: [{ role: 'user', content: 'Hello' }], stream: false };

const EVENTS = ['data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n', 'data: [DONE]\n\n'].join('');

/** The operations that clients of OpenAI's interface call (API decisions 2.16). */
export const DescribeOpenAi = ({ hasBody }: { readonly hasBody: boolean }): MethodDecorator =>
  applyDecorators(
    ApiTags('OpenAI'),
    ApiOperation({
      summary: `Ask a worker as OpenAI would be asked, by ${hasBody ? 'POST' : 'GET'}`,
      description: 'Each call is a job; whoever leaves cancels it. Which paths there are, the worker knows.',
    }),
    ...(hasBody
      ? [
          ApiBody({
            required: true,
            schema: ANYTHING,
            examples: { full: { summary: 'A chat', value: CHAT } },
          }),
        ]
      : []),
    ApiOkResponse({
      description: 'What the worker answered: JSON, or events where `stream` is true.',
      headers: headerReferences(['Berth-Job-Id', ...EVENT_HEADERS]),
      content: {
        'application/json': { schema: {} },
        'text/event-stream': {
          schema: { type: 'string' },
          examples: { full: { summary: 'A chat that is streamed', value: EVENTS } },
        },
      },
    }),
    ApiProblems('endpoint-not-found', 'wrong-endpoint-type', 'limit-reached'),
  );
