import {
  COMPLIANCE,
  NETWORK_VOLUME_TYPES,
  REGIONS,
  type Compliance,
  type NetworkVolumeType,
  type Region,
} from '@berth/domain';
import { QueryBooleanField, QueryListField } from '../../fields/query-field.js';

const INCLUDES = ['GPU_AVAILABILITY', 'CPU_AVAILABILITY'] as const;
type Include = (typeof INCLUDES)[number];

const IncludeField = (): PropertyDecorator =>
  QueryListField({
    isOptional: true,
    choices: INCLUDES,
    description: 'What to add, separated by commas.',
    example: ['GPU_AVAILABILITY'],
  });

export class DataCenterIncludeDto {
  @IncludeField()
  readonly include?: Include[];
}

/** Filters of different kinds all have to hold. */
export class DataCenterQueryDto {
  @IncludeField()
  readonly include?: Include[];

  @QueryListField({
    isOptional: true,
    choices: REGIONS,
    description: 'In any of these, separated by commas.',
    example: ['EUROPE', 'ASIA'],
  })
  readonly regions?: Region[];

  @QueryListField({
    isOptional: true,
    choices: NETWORK_VOLUME_TYPES,
    description: 'With all of these, separated by commas.',
    example: ['STANDARD'],
  })
  readonly networkVolumeTypes?: NetworkVolumeType[];

  @QueryListField({
    isOptional: true,
    choices: COMPLIANCE,
    description: 'Certified for all of these, separated by commas.',
    example: ['GDPR', 'SOC_2_TYPE_2'],
  })
  readonly compliance?: Compliance[];

  @QueryBooleanField({
    isOptional: true,
    description: 'With a network between data centers, or without.',
    example: false,
  })
  readonly globalNetwork?: boolean;
}
