import { ApiProperty } from '@nestjs/swagger';
import { NETWORK_VOLUME_TYPES, type NetworkVolumeType } from '@berth/domain';
import { IntegerField } from '../../fields/number-field.js';
import { ChoiceField, NameField, TextField } from '../../fields/text-field.js';

const SIZE_MIN_GB = 10;
const SIZE_MAX_GB = 4_096;
const VOLUME_DATA_CENTER_CHARACTERS_MAX = 255;
const NAME = { description: 'For people; need not be unique.', example: 'models' };
const SIZE = { minimum: SIZE_MIN_GB, maximum: SIZE_MAX_GB, example: 100 };

export class CreateNetworkVolumeDto {
  @NameField(NAME)
  readonly name!: string;

  @IntegerField({
    ...SIZE,
    description:
      'GB. Enforced only where the storage of a host can; else each worker says in its `notes` that it is not.',
  })
  readonly size!: number;

  @TextField({
    minLength: 1,
    maxLength: VOLUME_DATA_CENTER_CHARACTERS_MAX,
    description: "The data center that has it; any id, as data centers are the operator's to name.",
    example: 'LOCAL-1',
  })
  readonly dataCenter!: string;

  @ChoiceField(NETWORK_VOLUME_TYPES, {
    isOptional: true,
    default: 'STANDARD',
    description: 'Kind of storage. Kept as it was said; what is fast is for the operator to provide.',
    example: 'STANDARD',
  })
  readonly type?: NetworkVolumeType;
}

export class UpdateNetworkVolumeDto {
  @NameField({ ...NAME, isOptional: true })
  readonly name?: string;

  @IntegerField({ ...SIZE, isOptional: true, description: 'GB. Not below what it is: 400.' })
  readonly size?: number;
}

export class NetworkVolumeBody {
  @ApiProperty({ example: 'k3v9x0q2m7a1zd' })
  readonly id!: string;

  @ApiProperty({ example: 'models' })
  readonly name!: string;

  @ApiProperty({ type: 'integer', minimum: SIZE_MIN_GB, maximum: SIZE_MAX_GB, description: 'GB.', example: 100 })
  readonly size!: number;

  @ApiProperty({ description: 'Id of the data center in which it lies, and its workers with it.', example: 'LOCAL-1' })
  readonly dataCenter!: string;

  @ApiProperty({ description: 'As it was said.', enum: NETWORK_VOLUME_TYPES, example: 'STANDARD' })
  readonly type!: NetworkVolumeType;

  @ApiProperty({ format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly createdAt!: string;
}

export class NetworkVolumeListBody {
  @ApiProperty({ type: () => [NetworkVolumeBody], description: 'Oldest first.' })
  readonly networkVolumes!: readonly NetworkVolumeBody[];
}
