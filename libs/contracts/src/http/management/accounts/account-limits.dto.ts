import { ApiProperty } from '@nestjs/swagger';
import { ACCOUNT_LIMITS, type AccountLimit, type AccountLimitName } from '@berth/domain';
import { INTEGER_MAX, IntegerField } from '../../fields/number-field.js';

/** The subject of each limit, in the words of the interface. */
const MEANINGS: Readonly<Record<AccountLimitName, string>> = {
  endpoints: 'Endpoints of the account. Those that are there when it is lowered stay.',
  jobsPerEndpoint: 'Jobs of one endpoint that wait, run, or have ended and can still be read.',
  payloadBytesPerEndpoint: 'Bytes of the inputs and outputs of these jobs.',
  idempotencyKeysPerEndpoint: 'Keys in `Idempotency-Key` with jobs of one endpoint within 24 hours.',
  pendingDeliveriesPerEndpoint: 'Webhooks of ended jobs of one endpoint that are still to be told.',
  chunkBytesPerAttempt: 'Bytes that one attempt at a job streams.',
  chunkBytes: 'Bytes that jobs of the account have streamed, as long as they can be read.',
  heldCallsPerRouter: 'Calls of the account that one router holds, such as `/runsync`.',
};

const LimitField = (name: AccountLimitName): PropertyDecorator => {
  const { default: preset, maximum, minimum }: AccountLimit = ACCOUNT_LIMITS[name];
  return IntegerField({
    minimum,
    maximum,
    isOptional: true,
    isNullable: true,
    description: `${MEANINGS[name]} Null: the default, ${preset}.`,
    reason: `must be an integer from ${minimum} to ${maximum}, or null for the default, ${preset}`,
    example: preset,
  });
};

type LimitFields = Readonly<Record<AccountLimitName, number | null | undefined>>;

/** An absent limit stays; null goes back to the default. */
export class UpdateAccountLimitsDto implements LimitFields {
  @LimitField('endpoints')
  readonly endpoints!: number | null | undefined;

  @LimitField('jobsPerEndpoint')
  readonly jobsPerEndpoint!: number | null | undefined;

  @LimitField('payloadBytesPerEndpoint')
  readonly payloadBytesPerEndpoint!: number | null | undefined;

  @LimitField('idempotencyKeysPerEndpoint')
  readonly idempotencyKeysPerEndpoint!: number | null | undefined;

  @LimitField('pendingDeliveriesPerEndpoint')
  readonly pendingDeliveriesPerEndpoint!: number | null | undefined;

  @LimitField('chunkBytesPerAttempt')
  readonly chunkBytesPerAttempt!: number | null | undefined;

  @LimitField('chunkBytes')
  readonly chunkBytes!: number | null | undefined;

  @LimitField('heldCallsPerRouter')
  readonly heldCallsPerRouter!: number | null | undefined;
}

const LimitProperty = (name: AccountLimitName): PropertyDecorator => {
  const { default: preset, maximum, minimum }: AccountLimit = ACCOUNT_LIMITS[name];
  return ApiProperty({
    type: 'integer',
    ...(maximum > INTEGER_MAX ? { format: 'int64' } : {}),
    minimum,
    maximum,
    description: MEANINGS[name],
    example: preset,
  });
};

/** The limits that count. */
export class AccountLimitsBody implements Readonly<Record<AccountLimitName, number>> {
  @LimitProperty('endpoints')
  readonly endpoints!: number;

  @LimitProperty('jobsPerEndpoint')
  readonly jobsPerEndpoint!: number;

  @LimitProperty('payloadBytesPerEndpoint')
  readonly payloadBytesPerEndpoint!: number;

  @LimitProperty('idempotencyKeysPerEndpoint')
  readonly idempotencyKeysPerEndpoint!: number;

  @LimitProperty('pendingDeliveriesPerEndpoint')
  readonly pendingDeliveriesPerEndpoint!: number;

  @LimitProperty('chunkBytesPerAttempt')
  readonly chunkBytesPerAttempt!: number;

  @LimitProperty('chunkBytes')
  readonly chunkBytes!: number;

  @LimitProperty('heldCallsPerRouter')
  readonly heldCallsPerRouter!: number;
}
