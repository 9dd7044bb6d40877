import { ValidateBy } from 'class-validator';
import { ENDPOINT_DEFAULTS } from '@berth/domain';
import { TextListField } from '../../fields/list-field.js';
import { NestedListField } from '../../fields/nested-field.js';
import { TextField } from '../../fields/text-field.js';
import { CudaVersionsField, LIST_MAX, TEXT_MAX } from '../templates/container-fields.js';
import { GpuCountField, MinCudaVersionField, VcpuCountField } from './endpoint-fields.js';

const POOLS_MAX = 64;

const PoolsField = (presence: { readonly isOptional?: boolean } = {}): PropertyDecorator =>
  TextListField({
    ...presence,
    minItems: 1,
    maxItems: POOLS_MAX,
    description: 'GPU pool ids of the catalog, in order of preference; repeats are merged. An unknown pool: 400.',
    example: ['ADA_24', 'AMPERE_24'],
  });

const ExcludedTypesField = (documented: { readonly requires?: string } = {}): PropertyDecorator =>
  TextListField({
    ...documented,
    isOptional: true,
    isTrimmed: true,
    isUnique: true,
    maxItems: LIST_MAX,
    pattern: /^\s*[^-\s]/,
    patternReason: "must begin with something else than '-'",
    description: 'GPU type ids taken out of the pools. Each must be in one of them, and one type must remain: 400.',
    example: ['NVIDIA L4'],
  });

export class GpuRequestDto {
  @PoolsField()
  readonly pools!: string[];

  @ExcludedTypesField()
  readonly excludedTypes?: string[];

  @GpuCountField({ default: ENDPOINT_DEFAULTS.gpuCount })
  readonly count?: number;

  @CudaVersionsField(
    "CUDA versions, matched exactly; repeats are merged. Empty: any. Omitted: any, or the template's. Not together with minCudaVersion: 400.",
  )
  readonly allowedCudaVersions?: string[];

  @MinCudaVersionField()
  readonly minCudaVersion?: string;
}

/** Says of an optional field that another one must be there with it. */
const NeedsBeside = (other: string): PropertyDecorator =>
  ValidateBy({
    name: 'needsBeside',
    validator: {
      validate: (_, given) => (given?.object as Readonly<Record<string, unknown>> | undefined)?.[other] !== undefined,
      defaultMessage: () => `needs '${other}' beside it`,
    },
  });

/** A field that is left out stays, but that `pools` without `excludedTypes` clears the exclusions. */
export class UpdateGpuRequestDto {
  @PoolsField({ isOptional: true })
  readonly pools?: string[];

  @ExcludedTypesField({ requires: 'pools' })
  @NeedsBeside('pools')
  readonly excludedTypes?: string[];

  @GpuCountField()
  readonly count?: number;

  @CudaVersionsField(
    'Replaces the versions; empty: any. Does not clear a stored minCudaVersion: where both would be set, 400.',
  )
  readonly allowedCudaVersions?: string[];

  @TextField({
    isOptional: true,
    maxLength: TEXT_MAX,
    pattern: /^$|^\d+\.\d+$/,
    patternReason: 'must be major.minor, such as 12.4, or empty for none',
    description:
      'Replaces the floor; empty: none. Does not clear stored allowedCudaVersions: where both would be set, 400.',
    example: '12.1',
  })
  readonly minCudaVersion?: string;
}

export class CpuRequestDto {
  @TextField({
    minLength: 1,
    maxLength: TEXT_MAX,
    description: 'CPU flavor of the catalog. An unknown one: 400.',
    example: 'cpu3c',
  })
  readonly id!: string;

  @VcpuCountField()
  readonly vcpuCount!: number;
}

export const CpuField = (): PropertyDecorator =>
  NestedListField(CpuRequestDto, {
    isOptional: true,
    minItems: 1,
    maxItems: LIST_MAX,
    isUnique: true,
    description: 'Acceptable CPU sizes, in order of preference. A GPU endpoint has none: 400.',
    example: [{ id: 'cpu3c', vcpuCount: 4 }],
  });
