import { ApiProperty } from '@nestjs/swagger';
import type { FieldChange } from '@berth/domain';

const ANY_VALUE = ['string', 'number', 'boolean', 'array', 'object'].map((type) => ({ type }));

export class FieldChangeBody implements FieldChange {
  @ApiProperty({ description: 'Dotted path, in the words of the interface.', example: 'gpu.count' })
  readonly field!: string;

  @ApiProperty({
    anyOf: ANY_VALUE,
    nullable: true,
    description: 'Null: it was absent. Secrets: `***`.',
    example: 1,
  })
  readonly old!: unknown;

  @ApiProperty({
    anyOf: ANY_VALUE,
    nullable: true,
    description: 'Null: it is absent now. Secrets: `***`.',
    example: 2,
  })
  readonly new!: unknown;
}
