import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems, headerReferences } from '@berth/http';

const ANYTHING = { type: 'object', additionalProperties: true } as const;
const CHAT = { model: 'llama', messages: [{ role: 'user', content: 'Hello' }], stream: false };

/** What clients of OpenAI's interface call (API decisions 2.16). */
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
      headers: headerReferences(['Berth-Job-Id']),
      content: { 'application/json': { schema: {} }, 'text/event-stream': { schema: { type: 'string' } } },
    }),
    ApiProblems('endpoint-not-found', 'wrong-endpoint-type', 'limit-reached'),
  );
