import { ApiProperty } from '@nestjs/swagger';
import { QueryIntegerField } from '../../fields/query-field.js';
import { TextField } from '../../fields/text-field.js';
import { FieldChangeBody } from './field-change.body.js';

const ID_MAX = 255;
const LIMIT_MAX = 1_000;
const CURSOR_DIGITS_MAX = 18;
export const AUDIT_LIMIT_DEFAULT = 100;

export class AuditQueryDto {
  @TextField({
    isOptional: true,
    minLength: 1,
    maxLength: ID_MAX,
    description: 'Only what this account did.',
    example: 'default',
  })
  readonly accountId?: string;

  @TextField({
    isOptional: true,
    minLength: 1,
    maxLength: ID_MAX,
    description: 'Only what was done to this resource.',
    example: 'k3v9x0q2m7a1zd',
  })
  readonly resourceId?: string;

  @QueryIntegerField({
    isOptional: true,
    minimum: 1,
    maximum: LIMIT_MAX,
    default: AUDIT_LIMIT_DEFAULT,
    description: 'How many at most.',
    example: 100,
  })
  readonly limit?: number;

  @TextField({
    isOptional: true,
    maxLength: CURSOR_DIGITS_MAX,
    pattern: /^\d+$/,
    patternReason: 'must be the cursor of an earlier answer',
    description: 'Goes on where an earlier answer ended.',
    example: '4711',
  })
  readonly cursor?: string;
}

export class AuditEntryBody {
  @ApiProperty({ example: '4711' })
  readonly id!: string;

  @ApiProperty({ format: 'date-time', description: 'When it was done.' })
  readonly at!: string;

  @ApiProperty({ description: 'Of the key that did it.', example: 'default' })
  readonly accountId!: string;

  @ApiProperty({ description: 'The key that did it.', example: 'k3v9x0q2m7a1zd' })
  readonly apiKeyId!: string;

  @ApiProperty({ description: 'What was done: a kind of resource and a verb.', example: 'endpoint.updated' })
  readonly action!: string;

  @ApiProperty({ description: 'What it was done to.', example: 'k3v9x0q2m7a1zd' })
  readonly resourceId!: string;

  @ApiProperty({
    type: () => [FieldChangeBody],
    description: 'What it changed; empty where there is nothing to compare.',
  })
  readonly diff!: readonly FieldChangeBody[];

  @ApiProperty({ type: String, nullable: true, description: 'The request, as the log has it.', example: 'req_abc' })
  readonly requestId!: string | null;
}

export class AuditListBody {
  @ApiProperty({ type: () => [AuditEntryBody], description: 'Newest first.' })
  readonly entries!: readonly AuditEntryBody[];

  @ApiProperty({ type: String, nullable: true, description: 'Null at the end.', example: '4710' })
  readonly cursor!: string | null;
}
