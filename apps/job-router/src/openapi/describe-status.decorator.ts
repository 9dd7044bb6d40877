import { applyDecorators } from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import { LIFE_MIN_MS, TTL_MAX_MS } from '@berth/domain';
import { DescribeQueueCall } from './describe-operation.decorator.js';

/** `/status`, in either verb. */
export const DescribeStatus = (): MethodDecorator =>
  applyDecorators(
    DescribeQueueCall({ tag: 'Jobs', summary: 'Read a job', answer: 'JobStatus', problems: ['job-not-found'] }),
    ApiQuery({
      name: 'ttl',
      required: false,
      description: 'Replaces what is left of the job’s life, in milliseconds from now. Needs the scope `jobs:write`.',
      schema: { type: 'integer', minimum: LIFE_MIN_MS, maximum: TTL_MAX_MS },
      example: 60_000,
    }),
    ApiQuery({
      name: 'debug',
      required: false,
      description: 'Tells in `debug` which trace the job is a part of.',
      schema: { type: 'boolean', default: false },
      example: true,
    }),
  );
