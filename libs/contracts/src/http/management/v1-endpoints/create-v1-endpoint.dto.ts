import { ENDPOINT_DEFAULTS } from '@berth/domain';
import { BooleanField } from '../../fields/boolean-field.js';
import { TextListField } from '../../fields/list-field.js';
import { IntegerField } from '../../fields/number-field.js';
import { ChoiceField, NameField, TextField } from '../../fields/text-field.js';
import {
  DataCenterIdsField,
  DEFAULT_OF,
  GpuCountField,
  IdleTimeoutField,
  MinCudaVersionField,
  NAME,
  NetworkVolumesField,
  TemplateIdField,
  TimeoutField,
  VcpuCountField,
  WorkersMaxField,
  WorkersMinField,
} from '../endpoints/endpoint-fields.js';
import { CudaVersionsField, EnvField, LIST_MAX, TEXT_MAX } from '../templates/container-fields.js';

export const V1_DEFAULTS = { scalerType: 'QUEUE_DELAY', scalerValue: 4, vcpuCount: 2 } as const;

/** The older create form: queue-based, its container from a template, its hardware by GPU types or by CPU flavors. */
export class CreateV1EndpointDto {
  @NameField(NAME)
  readonly name!: string;

  @TemplateIdField({}, 'Own or public template of the container. Unknown: 404. No serverless template: 422.')
  readonly templateId!: string;

  @ChoiceField(['GPU', 'CPU'], {
    isOptional: true,
    description: 'Omitted: CPU where cpuFlavorIds or instanceIds are given, else GPU.',
    example: 'GPU',
  })
  readonly computeType?: 'GPU' | 'CPU';

  @TextListField({
    isOptional: true,
    isTrimmed: true,
    minItems: 1,
    maxItems: LIST_MAX,
    description:
      'GPU type ids, the first the best; repeats are merged. Needed for GPU. Unknown, or in no serverless pool: 400.',
    example: ['NVIDIA GeForce RTX 4090', 'NVIDIA L4'],
  })
  readonly gpuTypeIds?: string[];

  @GpuCountField({ default: ENDPOINT_DEFAULTS.gpuCount })
  readonly gpuCount?: number;

  @CudaVersionsField("CUDA versions, matched exactly. Empty: any. Omitted: any, or the template's. Not for CPU: 422.")
  readonly allowedCudaVersions?: string[];

  @MinCudaVersionField()
  readonly minCudaVersion?: string;

  @TextListField({
    isOptional: true,
    isUnique: true,
    minItems: 1,
    maxItems: LIST_MAX,
    description: 'CPU flavors, the first the best, each with vcpuCount. Needed for CPU without instanceIds.',
    example: ['cpu3c'],
  })
  readonly cpuFlavorIds?: string[];

  @VcpuCountField({ isOptional: true, default: V1_DEFAULTS.vcpuCount })
  readonly vcpuCount?: number;

  @TextListField({
    isOptional: true,
    isUnique: true,
    minItems: 1,
    maxItems: LIST_MAX,
    pattern: /^[^-\s]+-\d{1,9}-\d{1,9}$/,
    patternReason: 'must be flavor-vcpu-memory, such as cpu3g-4-16',
    description: 'CPU sizes as flavor, vCPU and GB of memory, the first the best, instead of cpuFlavorIds: both 400.',
    example: ['cpu3g-4-16'],
  })
  readonly instanceIds?: string[];

  @WorkersMinField(DEFAULT_OF.workersMin)
  readonly workersMin?: number;

  @WorkersMaxField(DEFAULT_OF.workersMax)
  readonly workersMax?: number;

  @IdleTimeoutField(DEFAULT_OF.idleTimeout)
  readonly idleTimeout?: number;

  @ChoiceField(['QUEUE_DELAY', 'REQUEST_COUNT'], {
    isOptional: true,
    default: V1_DEFAULTS.scalerType,
    description: 'The scaler.',
    example: 'QUEUE_DELAY',
  })
  readonly scalerType?: 'QUEUE_DELAY' | 'REQUEST_COUNT';

  @IntegerField({
    isOptional: true,
    minimum: 1,
    default: V1_DEFAULTS.scalerValue,
    description: 'Seconds that a job may wait, or requests in flight for which one worker is wanted.',
    example: 4,
  })
  readonly scalerValue?: number;

  @TimeoutField(DEFAULT_OF.timeout)
  readonly executionTimeoutMs?: number;

  @BooleanField({
    isOptional: true,
    default: false,
    description: 'Whether idle workers are kept paused for a faster start.',
    example: true,
  })
  readonly flashboot?: boolean;

  @DataCenterIdsField({ default: [] })
  readonly dataCenterIds?: string[];

  @TextField({
    isOptional: true,
    minLength: 1,
    maxLength: TEXT_MAX,
    description: 'One network volume, before networkVolumeIds.',
    example: 'k3v9x0q2m7a1zd',
  })
  readonly networkVolumeId?: string;

  @NetworkVolumesField({ default: [] })
  readonly networkVolumeIds?: string[];

  @EnvField()
  readonly env?: Record<string, string>;
}
