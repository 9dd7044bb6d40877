import { ApiProperty } from '@nestjs/swagger';
import { ACCOUNT_LIMITS, ACCOUNT_LIMIT_NAMES, type AccountLimit } from '@berth/domain';
import { INTEGER_MAX, IntegerField } from '../../fields/number-field.js';

const limitField = ({ default: preset, maximum, meaning, minimum }: AccountLimit): PropertyDecorator =>
  IntegerField({
    minimum,
    maximum,
    isOptional: true,
    isNullable: true,
    description: `${meaning} Null: the default, ${preset}.`,
    reason: `must be an integer from ${minimum} to ${maximum}, or null for the default, ${preset}`,
    example: preset,
  });

const limitProperty = ({ default: preset, maximum, meaning, minimum }: AccountLimit): PropertyDecorator =>
  ApiProperty({
    type: 'integer',
    ...(maximum > INTEGER_MAX ? { format: 'int64' } : {}),
    minimum,
    maximum,
    description: meaning,
    example: preset,
  });

/** A field for each limit of the table: an absent one stays, null goes back to the default. Read as `LimitChange`. */
export class UpdateAccountLimitsDto {}

/** A member for each limit of the table: those that count. Written as `AccountLimits`. */
export class AccountLimitsBody {}

for (const name of ACCOUNT_LIMIT_NAMES) {
  limitField(ACCOUNT_LIMITS[name])(UpdateAccountLimitsDto.prototype, name);
  limitProperty(ACCOUNT_LIMITS[name])(AccountLimitsBody.prototype, name);
}
