import { ApiProperty } from '@nestjs/swagger';
import {
  ACCOUNT_LIMIT_NAMES,
  SCOPES,
  type AccountLimitName,
  type AccountLimits,
  type LimitChange,
} from '@berth/domain';
import { NestedField } from '../../fields/nested-field.js';
import { NameField } from '../../fields/text-field.js';
import { AccountLimitsBody, UpdateAccountLimitsDto } from './account-limits.dto.js';

export class CreateAccountDto {
  @NameField({ description: 'For people; need not be unique.', example: 'research' })
  readonly name!: string;
}

export class UpdateAccountDto {
  @NestedField(UpdateAccountLimitsDto, {
    isOptional: true,
    description: 'Changes of how much the account may have at one time.',
  })
  readonly limits?: LimitChange;
}

export class AccountBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt!: string;
}

export class AccountWithLimitsBody extends AccountBody {
  @ApiProperty({ type: () => AccountLimitsBody, description: 'How much the account may have at one time.' })
  readonly limits!: AccountLimits;

  @ApiProperty({
    enum: ACCOUNT_LIMIT_NAMES,
    isArray: true,
    description: 'The limits that an operator has set for this account. All others are at their defaults.',
    example: ['endpoints'],
  })
  readonly overriddenLimits!: readonly AccountLimitName[];
}

export class FirstApiKeyBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({
    description: 'The key itself. It is shown this once.',
    example: 'bk_k3v9x0q2m7a1_q8w2e5r1t6y9ui3o4p7a0s1dq8w2e5r1t6y9ui3o',
  })
  readonly key!: string;

  @ApiProperty({ enum: SCOPES, isArray: true, description: 'What the key may do.' })
  readonly scopes!: readonly string[];
}

export class NewAccountBody extends AccountBody {
  @ApiProperty({ description: 'A key with every scope but admin.' })
  readonly apiKey!: FirstApiKeyBody;
}

export class AccountListBody {
  @ApiProperty({ type: () => [AccountBody], description: 'Oldest first.' })
  readonly accounts!: readonly AccountBody[];
}
