import { ApiProperty } from '@nestjs/swagger';
import { SCOPES, SCOPE_PRESETS, expandScopes, type ScopePreset } from '@berth/domain';
import { TextListField } from '../../fields/list-field.js';
import { ChoiceField, NameField, TextField } from '../../fields/text-field.js';

const ENDPOINTS_MAX = 1_000;
const DATE_TIME_MAX = 64;
const ISO_8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

const scopeProblem = (word: string): string | null =>
  expandScopes([word]).unknown.length === 0 ? null : `is no scope: '${word}'; there are ${SCOPES.join(', ')} and X:*`;

export class CreateApiKeyDto {
  @NameField({ description: 'For people; need not be unique.', example: 'ci' })
  readonly name!: string;

  @TextListField({
    isOptional: true,
    eitherOr: 'preset',
    minItems: 1,
    maxItems: SCOPES.length * 2,
    rule: scopeProblem,
    description:
      'What the key may do; `X:*` means `X:read` and `X:write`. Exactly one of scopes and preset, otherwise 400.',
    example: ['serverless:*', 'jobs:read'],
  })
  readonly scopes?: string[];

  @ChoiceField(Object.keys(SCOPE_PRESETS), {
    isOptional: true,
    description: 'A named list of scopes: `all` (everything but admin) or `read-only`.',
  })
  readonly preset?: ScopePreset;

  @TextListField({
    isOptional: true,
    isNullable: true,
    isUnique: true,
    minItems: 1,
    maxItems: ENDPOINTS_MAX,
    description: 'The only endpoints that the key reaches; null or omitted: all of the account. Unknown: 404.',
    example: ['k3v9x0q2m7a1zd'],
  })
  readonly endpointIds?: string[] | null;

  @TextField({
    isOptional: true,
    isNullable: true,
    maxLength: DATE_TIME_MAX,
    pattern: ISO_8601,
    patternReason: 'must be an ISO 8601 date and time with its zone',
    format: 'date-time',
    rule: (text) => (Number.isNaN(Date.parse(text)) ? 'must be a date and time that exists' : null),
    description: 'End of its life; null or omitted: never. In the past: 422.',
    example: '2099-01-01T12:00:00Z',
  })
  readonly expiresAt?: string | null;
}

export class ApiKeyBody {
  @ApiProperty()
  readonly id!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ description: 'The public part of the key.', example: 'k3v9x0q2m7a1' })
  readonly prefix!: string;

  @ApiProperty({ enum: SCOPES, isArray: true, description: 'What the key may do.' })
  readonly scopes!: readonly string[];

  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'The only endpoints that the key reaches; null: every endpoint of the account.',
    example: ['k3v9x0q2m7a1zd'],
  })
  readonly endpointIds!: readonly string[] | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'End of its life; null: never.' })
  readonly expiresAt!: string | null;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt!: string;
}

export class NewApiKeyBody extends ApiKeyBody {
  @ApiProperty({
    description: 'The key itself. It is shown this once.',
    example: 'bk_k3v9x0q2m7a1_q8w2e5r1t6y9ui3o4p7a0s1dq8w2e5r1t6y9ui3o',
  })
  readonly key!: string;
}

export class ApiKeyListBody {
  @ApiProperty({ type: () => [ApiKeyBody], description: 'Oldest first.' })
  readonly apiKeys!: readonly ApiKeyBody[];
}
