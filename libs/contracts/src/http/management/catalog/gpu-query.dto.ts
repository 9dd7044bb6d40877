import { CLOUDS, PRODUCTS, type Cloud, type Product } from '@berth/domain';
import { QueryIntegerField, QueryListField } from '../../fields/query-field.js';
import { ChoiceField, TextField } from '../../fields/text-field.js';
import { IncludeField } from './include-field.js';

const COUNT_MAX = 1_024;
const VERSION_MAX = 16;

export class GpuQueryDto {
  @IncludeField()
  readonly include?: 'AVAILABILITY'[];

  @QueryListField({
    isOptional: true,
    choices: PRODUCTS,
    description:
      'What the GPUs are for, separated by commas; any of them will do. Only with `include=AVAILABILITY`. `SERVERLESS` alone lists the types that are in a pool.',
    example: ['SERVERLESS'],
  })
  readonly product?: Product[];

  @QueryIntegerField({
    isOptional: true,
    minimum: 1,
    maximum: COUNT_MAX,
    default: 1,
    description: 'GPUs of one worker or pod. Only with `include=AVAILABILITY`.',
    example: 2,
  })
  readonly count?: number;

  @ChoiceField(CLOUDS, {
    isOptional: true,
    default: 'SECURE',
    description: "Whose hosts: every host is the operator's own, `SECURE`. Only with `include=AVAILABILITY`.",
    example: 'SECURE',
  })
  readonly cloud?: Cloud;

  @QueryListField({
    isOptional: true,
    pattern: /^[A-Z]{2}$/,
    patternReason: 'must be a country code of two capital letters, such as FR',
    description:
      'Countries, separated by commas; any of them will do. A list leaves out types with no data center there. Only with `include=AVAILABILITY`.',
    example: ['FR', 'DE'],
  })
  readonly countryCodes?: string[];

  @QueryListField({
    isOptional: true,
    pattern: /^\d{1,4}\.\d{1,4}$/,
    patternReason: 'must be major.minor, such as 12.4',
    description:
      'CUDA versions, separated by commas, exact. Not with `minCudaVersion`; only with `include=AVAILABILITY`.',
    example: ['12.8', '12.6'],
  })
  readonly cudaVersions?: string[];

  @TextField({
    isOptional: true,
    maxLength: VERSION_MAX,
    pattern: /^\d{1,4}(\.\d{1,4})?$/,
    patternReason: 'must be major.minor or major alone, such as 12.4 or 12',
    description:
      'Lowest CUDA version, compared as numbers: 12.11 is above 12.2. Not with `cudaVersions`; only with `include=AVAILABILITY`.',
    example: '12.1',
  })
  readonly minCudaVersion?: string;
}
