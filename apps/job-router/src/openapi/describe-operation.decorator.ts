import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
  type ApiResponseNoStatusOptions,
} from '@nestjs/swagger';
import { WAIT_MAX_MS, WAIT_MIN_MS, type ErrorCode } from '@berth/domain';
import { ApiProblems } from '@berth/http';

type Tag = 'Jobs' | 'Streams' | 'Queue' | 'History' | 'OpenAI';
type Content = NonNullable<Extract<ApiResponseNoStatusOptions, { content?: unknown }>['content']>;

const JSON_MEDIA_TYPE = 'application/json';

interface OperationText {
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** The component that describes the answer. */
  readonly answer: string;
  /** Those of this operation besides the ones of every endpoint. */
  readonly problems?: readonly ErrorCode[];
}

/** Of every path behind an endpoint. */
const OF_ENDPOINTS: readonly ErrorCode[] = ['endpoint-not-found'];
/** Of every path that only an endpoint with a queue has. */
const OF_QUEUES: readonly ErrorCode[] = [...OF_ENDPOINTS, 'wrong-endpoint-type'];

/** An operation of an endpoint with a queue, for the document of the job API. */
export const DescribeQueueCall = (given: OperationText): MethodDecorator => describe(given, OF_QUEUES);

/** An operation of an endpoint of any kind. */
export const DescribeEndpointCall = (given: OperationText): MethodDecorator => describe(given, OF_ENDPOINTS);

const describe = (
  { answer, problems = [], summary, tag, description }: OperationText,
  always: readonly ErrorCode[],
): MethodDecorator =>
  applyDecorators(
    ApiTags(tag),
    ApiOperation({ summary, ...(description === undefined ? {} : { description }) }),
    ApiOkResponse({ content: contentOf(answer) }),
    ApiProblems(...always, ...problems),
  );

const contentOf = (schema: string): Content => ({ [JSON_MEDIA_TYPE]: { schema: refOf(schema) } });

const refOf = (name: string): { readonly $ref: string } => ({ $ref: `#/components/schemas/${name}` });

/** @param schema the component that describes the body */
export const DescribeBody = (schema: keyof typeof BODY_EXAMPLES): MethodDecorator =>
  ApiBody({ required: true, schema: refOf(schema), examples: BODY_EXAMPLES[schema] });

const FULL_REQUEST = {
  input: { prompt: 'A town by the sea' },
  webhook: 'https://hooks.example.com/jobs',
  policy: { executionTimeout: 300_000, ttl: 86_400_000, lowPriority: false },
};

const BODY_EXAMPLES = {
  JobRequest: {
    minimal: { summary: 'As little as possible', value: { input: {} } },
    full: { summary: 'With a webhook and limits', value: FULL_REQUEST },
  },
  JobBatch: { full: { summary: 'Two jobs', value: { requests: [{ input: {} }, FULL_REQUEST] } } },
};

/** @param preset in ms */
export const DescribeWait = (preset: number): MethodDecorator =>
  ApiQuery({
    name: 'wait',
    required: false,
    description: 'How long the call is held at most, in milliseconds.',
    schema: { type: 'integer', minimum: WAIT_MIN_MS, maximum: WAIT_MAX_MS, default: preset },
    example: preset,
  });

/** Of an operation that makes jobs (API decisions 1.6). */
export const DescribeIdempotencyKey = (): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description: [
      'Makes it safe to send the request again: within 24 hours the same key with the same body gives the same jobs, with',
      '`Idempotency-Replayed: true`. Another body under the same key is 409; bodies are the same when their text is.',
    ].join(' '),
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: '3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55',
  });
