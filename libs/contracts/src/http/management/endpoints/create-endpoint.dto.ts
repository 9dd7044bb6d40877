import { ApiExtraModels } from '@nestjs/swagger';
import type { EndpointType, Flashboot } from '@berth/domain';
import { NestedField } from '../../fields/nested-field.js';
import { ChoiceField, NameField } from '../../fields/text-field.js';
import {
  ArgsField,
  DiskField,
  EnvField,
  ImageField,
  PortsField,
  RegistryField,
} from '../templates/container-fields.js';
import { CpuField, CpuRequestDto, GpuRequestDto } from './compute.dto.js';
import {
  DEFAULT_OF,
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

const WORKERS = { min: 0, max: 3, idleTimeout: 10 };

export class WorkersDto {
  @WorkersMinField(DEFAULT_OF.workersMin)
  readonly min?: number;

  @WorkersMaxField(DEFAULT_OF.workersMax)
  readonly max?: number;

  @IdleTimeoutField(DEFAULT_OF.idleTimeout)
  readonly idleTimeout?: number;
}

/** Exactly one of `gpu` and `cpu`; what is left out has the default, or comes from the template. */
@ApiExtraModels(QueueDelayScalingDto, RequestCountScalingDto)
export class CreateEndpointDto {
  @NameField(NAME)
  readonly name!: string;

  @ChoiceField(['QUEUE', 'LOAD_BALANCER'], {
    description: 'Routing: through a queue, or straight to the workers. Stays for ever.',
    example: 'QUEUE',
  })
  readonly type!: EndpointType;

  @ScalingField()
  readonly scaling!: ScalingDto;

  @NestedField(GpuRequestDto, {
    isOptional: true,
    eitherOr: 'cpu',
    description: 'Which GPUs a worker may have. Exactly one of gpu and cpu, otherwise 400.',
    example: { pools: ['ADA_24', 'AMPERE_24'], count: 1 },
  })
  readonly gpu?: GpuRequestDto;

  @CpuField()
  readonly cpu?: CpuRequestDto[];

  @ImageField({ requiredUnless: 'templateId' })
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
    'Own or public template that gives what the body leaves out of image, args, disk, ports, env (merged by key) and registry, once: later edits of it change nothing here. Unknown: 404. No serverless template: 422.',
  )
  readonly templateId?: string;

  @DataCenterIdsField({ default: [] })
  readonly dataCenterIds?: string[];

  @NetworkVolumesField({ default: [] })
  readonly networkVolumes?: string[];

  @FlashbootField(DEFAULT_OF.flashboot)
  readonly flashboot?: Flashboot;

  @TimeoutField(DEFAULT_OF.timeout)
  readonly timeout?: number;

  @NestedField(WorkersDto, {
    isOptional: true,
    default: WORKERS,
    description: 'Range of the number of workers.',
    example: WORKERS,
  })
  readonly workers?: WorkersDto;

  @LoadBalancerAccessField()
  readonly loadBalancer?: LoadBalancerAccessDto;
}
