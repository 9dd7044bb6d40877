import { ApiExtraModels } from '@nestjs/swagger';
import type { Flashboot } from '@berth/domain';
import { NestedField } from '../../fields/nested-field.js';
import { NameField } from '../../fields/text-field.js';
import {
  ArgsField,
  DiskField,
  EnvField,
  ImageField,
  PortsField,
  RegistryField,
} from '../templates/container-fields.js';
import { CpuField, CpuRequestDto, UpdateGpuRequestDto } from './compute.dto.js';
import {
  DataCenterIdsField,
  FlashbootField,
  IdleTimeoutField,
  type LoadBalancerAccessDto,
  LoadBalancerAccessField,
  NAME,
  NetworkVolumesField,
  TemplateIdField,
  TimeoutField,
  WorkersMaxField,
  WorkersMinField,
} from './endpoint-fields.js';
import { QueueDelayScalingDto, RequestCountScalingDto, ScalingField, type ScalingDto } from './scaling.dto.js';

export class UpdateWorkersDto {
  @WorkersMinField()
  readonly min?: number;

  @WorkersMaxField()
  readonly max?: number;

  @IdleTimeoutField()
  readonly idleTimeout?: number;
}

/**
 * An absent field stays as it is. Meanings of values beyond replacing the stored one:
 *
 * | Field | Present | Clears |
 * |---|---|---|
 * | `name`, `image`, `args`, `disk`, `ports`, `timeout`, `flashboot` | replaced | `args: ""`, `ports: []` |
 * | `env` | the whole map replaced; with `templateId` it is laid over the template's by key first | `{}` |
 * | `registry` | replaced | `null`, the only field that takes it |
 * | `templateId` | image, args, disk, ports, env and registry become the template's, the body's own fields over them, once | |
 * | `gpu` | each member replaced; `pools` alone clears the exclusions | `excludedTypes: []`, `allowedCudaVersions: []`, `minCudaVersion: ""` |
 * | `cpu` | the whole list replaced | |
 * | `workers`, `loadBalancer` | each member replaced | |
 * | `scaling` | replaced; the idle timeout goes and comes back with the scaler | |
 * | `dataCenterIds`, `networkVolumes` | the whole list replaced | `[]` |
 */
@ApiExtraModels(QueueDelayScalingDto, RequestCountScalingDto)
export class UpdateEndpointDto {
  @NameField({ ...NAME, isOptional: true })
  readonly name?: string;

  @ScalingField({ isOptional: true })
  readonly scaling?: ScalingDto;

  @NestedField(UpdateGpuRequestDto, {
    isOptional: true,
    excludes: 'cpu',
    description: 'Changes of the GPU selection. A CPU endpoint has none: 400.',
    example: { count: 2 },
  })
  readonly gpu?: UpdateGpuRequestDto;

  @CpuField()
  readonly cpu?: CpuRequestDto[];

  @ImageField({ isOptional: true })
  readonly image?: string;

  @ArgsField()
  readonly args?: string;

  @DiskField()
  readonly disk?: number;

  @EnvField()
  readonly env?: Record<string, string>;

  @PortsField()
  readonly ports?: string[];

  @RegistryField()
  readonly registry?: string | null;

  @TemplateIdField(
    { isOptional: true },
    "Own or public template whose container the endpoint gets, once, with the body's own fields over it. Unknown: 404. No serverless template: 422.",
  )
  readonly templateId?: string;

  @DataCenterIdsField()
  readonly dataCenterIds?: string[];

  @NetworkVolumesField()
  readonly networkVolumes?: string[];

  @FlashbootField()
  readonly flashboot?: Flashboot;

  @TimeoutField()
  readonly timeout?: number;

  @NestedField(UpdateWorkersDto, {
    isOptional: true,
    description: 'Changes of the range of the number of workers.',
    example: { max: 5 },
  })
  readonly workers?: UpdateWorkersDto;

  @LoadBalancerAccessField()
  readonly loadBalancer?: LoadBalancerAccessDto;
}
