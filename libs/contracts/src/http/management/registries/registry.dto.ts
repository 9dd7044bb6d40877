import { ApiProperty } from '@nestjs/swagger';
import { NameField, TextField } from '../../fields/text-field.js';

const USERNAME_MAX = 1_024;
/** Some registries take whole signed tokens as password. */
const PASSWORD_MAX = 16 * 1_024;

export class CreateRegistryDto {
  @NameField({ description: 'For people; need not be unique.', example: 'team registry' })
  readonly name!: string;

  @TextField({
    minLength: 1,
    maxLength: USERNAME_MAX,
    description: 'Kept encrypted, never shown again.',
    example: 'ci-puller',
  })
  readonly username!: string;

  @TextField({
    minLength: 1,
    maxLength: PASSWORD_MAX,
    format: 'password',
    description: 'Kept encrypted, never shown again.',
    example: 'correct horse battery staple',
  })
  readonly password!: string;
}

export class RegistryBody {
  @ApiProperty({ example: 'k3v9x0q2m7a1zd' })
  readonly id!: string;

  @ApiProperty({ example: 'team registry' })
  readonly name!: string;
}

export class RegistryListBody {
  @ApiProperty({ type: () => [RegistryBody], description: 'Oldest first.' })
  readonly registries!: readonly RegistryBody[];
}
