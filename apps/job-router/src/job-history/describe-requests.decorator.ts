import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { REQUESTS_LIMIT_DEFAULT, REQUESTS_LIMIT_MAX } from '@berth/contracts/http';
import { JOB_STATES } from '@berth/domain';

/** The filters of `/requests` (API decisions 2.15). */
export const DescribeRequestsQuery = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({
      name: 'status',
      required: false,
      description: 'Jobs of these statuses alone, comma separated.',
      style: 'form',
      explode: false,
      schema: { type: 'array', items: { type: 'string', enum: [...JOB_STATES] } },
      example: ['FAILED', 'TIMED_OUT'],
    }),
    ApiQuery({
      name: 'limit',
      required: false,
      description: 'How many at most.',
      schema: { type: 'integer', minimum: 1, maximum: REQUESTS_LIMIT_MAX, default: REQUESTS_LIMIT_DEFAULT },
      example: REQUESTS_LIMIT_DEFAULT,
    }),
    ApiQuery({
      name: 'cursor',
      required: false,
      description: 'The page that an answer of this path named.',
      schema: { type: 'string', maxLength: 500 },
      example: '1767268800000.3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55',
    }),
  );
