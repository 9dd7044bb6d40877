import { getSchemaPath, type ApiPropertyOptions } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { VariantField } from '../../fields/nested-field.js';
import { IntegerField, NumberField } from '../../fields/number-field.js';
import { ChoiceField } from '../../fields/text-field.js';

const QUEUE_DELAY_MIN_SECONDS = 0.5;

export class QueueDelayScalingDto {
  @ChoiceField(['QUEUE_DELAY'], {
    description: 'Scales on the time that jobs wait. Queue-based endpoints only.',
    example: 'QUEUE_DELAY',
  })
  readonly type!: 'QUEUE_DELAY';

  @NumberField({
    minimum: QUEUE_DELAY_MIN_SECONDS,
    description: 'Seconds that the oldest job may wait before a worker is added.',
    example: 4,
  })
  readonly queueDelay!: number;
}

export class RequestCountScalingDto {
  @ChoiceField(['REQUEST_COUNT'], {
    description: 'Scales on requests in flight. The only one for load balancing.',
    example: 'REQUEST_COUNT',
  })
  readonly type!: 'REQUEST_COUNT';

  @IntegerField({ minimum: 1, description: 'Requests in flight for which one worker is wanted.', example: 4 })
  readonly requestCount!: number;
}

/** Stands in where `type` is missing or unknown: only that is said, not that the other fields are unknown too. */
class UnknownScalingDto {
  @ChoiceField(['QUEUE_DELAY', 'REQUEST_COUNT'], { description: 'The scaler.', example: 'QUEUE_DELAY' })
  readonly type!: string;

  @Allow()
  readonly queueDelay?: unknown;

  @Allow()
  readonly requestCount?: unknown;
}

export type ScalingDto = QueueDelayScalingDto | RequestCountScalingDto;

export const SCALING_SCHEMA: ApiPropertyOptions = {
  oneOf: [QueueDelayScalingDto, RequestCountScalingDto].map((dto) => ({ $ref: getSchemaPath(dto) })),
  discriminator: {
    propertyName: 'type',
    mapping: {
      QUEUE_DELAY: getSchemaPath(QueueDelayScalingDto),
      REQUEST_COUNT: getSchemaPath(RequestCountScalingDto),
    },
  },
};

export const ScalingField = (presence: { readonly isOptional?: boolean } = {}): PropertyDecorator =>
  VariantField(
    {
      variants: [
        { name: 'QUEUE_DELAY', dto: QueueDelayScalingDto },
        { name: 'REQUEST_COUNT', dto: RequestCountScalingDto },
      ],
      fallback: UnknownScalingDto,
    },
    SCALING_SCHEMA,
    {
      ...presence,
      description: 'How many workers are wanted. A load-balanced endpoint takes REQUEST_COUNT, otherwise 400.',
      example: { type: 'QUEUE_DELAY', queueDelay: 4 },
    },
  );
