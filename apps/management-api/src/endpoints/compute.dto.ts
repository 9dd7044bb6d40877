import { IntegerField, TextField, TextListField } from '@berth/http';

const CUDA_VERSION = /^\d+\.\d+$/;
const CUDA_REASON = 'must be major.minor, such as 12.4';
const TEXT_MAX = 255;
const POOLS_MAX = 64;
const TYPES_MAX = 256;
const VCPU_MIN = 2;

export class GpuRequestDto {
  @TextListField({
    minItems: 1,
    maxItems: POOLS_MAX,
    description: 'GPU pool ids of the catalog, in order of preference; repeats are merged. An unknown pool: 400.',
    example: ['ADA_24'],
  })
  readonly pools!: string[];

  @TextListField({
    isOptional: true,
    isTrimmed: true,
    isUnique: true,
    maxItems: TYPES_MAX,
    pattern: /^\s*[^-\s]/,
    patternReason: "must begin with something else than '-'",
    description: 'GPU type ids taken out of the pools. Each must be in one of them, and one type must remain: 400.',
  })
  readonly excludedTypes?: string[];

  @IntegerField({ isOptional: true, minimum: 1, default: 1, description: 'GPUs per worker.' })
  readonly count?: number;

  @TextListField({
    isOptional: true,
    maxItems: TYPES_MAX,
    pattern: CUDA_VERSION,
    patternReason: CUDA_REASON,
    description: 'CUDA versions, matched exactly; empty or omitted: any. Not together with minCudaVersion: 400.',
  })
  readonly allowedCudaVersions?: string[];

  @TextField({
    isOptional: true,
    maxLength: TEXT_MAX,
    pattern: CUDA_VERSION,
    patternReason: CUDA_REASON,
    description: 'Lowest CUDA version, compared by numbers: 12.11 is above 12.2.',
  })
  readonly minCudaVersion?: string;
}

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

export class CpuRequestDto {
  @TextField({ minLength: 1, maxLength: TEXT_MAX, description: 'CPU flavor of the catalog. An unknown one: 400.' })
  readonly id!: string;

  @IntegerField({
    minimum: VCPU_MIN,
    rule: (count) => (isPowerOfTwo(count) ? null : 'must be a power of two'),
    description: "A power of two; outside the flavor's range: 400.",
  })
  readonly vcpuCount!: number;
}
