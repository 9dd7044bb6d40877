import { ApiProperty } from '@nestjs/swagger';
import { SCOPES } from '@berth/domain';
import { NameField } from '@berth/http';

export class CreateAccountDto {
  @NameField({ description: 'For people; need not be unique.' })
  readonly name!: string;
}

export class AccountBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt!: string;
}

export class FirstApiKeyBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ description: 'The key itself. It is shown this once.' })
  readonly key!: string;

  @ApiProperty({ enum: SCOPES, isArray: true })
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
