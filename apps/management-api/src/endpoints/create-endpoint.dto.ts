import { ApiExtraModels } from '@nestjs/swagger';
import { ENDPOINT_DEFAULTS, splitArgs, type EndpointType, type Flashboot } from '@berth/domain';
import {
  ChoiceField,
  IntegerField,
  NameField,
  NestedField,
  NestedListField,
  TextField,
  TextListField,
  TextMapField,
} from '@berth/http';
import { CpuRequestDto, GpuRequestDto } from './compute.dto.js';
import { QueueDelayScalingDto, RequestCountScalingDto, ScalingField, type ScalingDto } from './scaling.dto.js';

const TEXT_MAX = 255;
const IMAGE_MAX = 1_024;
const ARGS_MAX = 64 * 1_024;
const DISK_MAX_GB = 65_536;
const LIST_MAX = 256;
const ENV_KEYS_MAX = 200;
const ENV_BYTES_MAX = 64 * 1_024;
const WORKERS_MAX = 1_000;
const IDLE_TIMEOUT_MAX_SECONDS = 3_600;
const TIMEOUT_MIN_MS = 1_000;
const TIMEOUT_MAX_MS = 604_800_000;
const PORT_MAX = 65_535;

const portProblem = (text: string): string | null => {
  const [, port = '0'] = /^(\d{1,5})\/(http|tcp|udp)$/.exec(text) ?? [];
  const isGood = Number(port) >= 1 && Number(port) <= PORT_MAX;
  return isGood ? null : 'must be port/protocol, such as 8080/http, with http, tcp or udp';
};

const argsProblem = (text: string): string | null => {
  const split = splitArgs(text);
  return split.kind === 'words' ? null : `cannot be split into words: ${split.detail}`;
};

export class WorkersDto {
  @IntegerField({
    isOptional: true,
    minimum: 0,
    maximum: WORKERS_MAX,
    default: ENDPOINT_DEFAULTS.workersMin,
    description: 'Workers kept without any demand. Above max: 400.',
  })
  readonly min?: number;

  @IntegerField({
    isOptional: true,
    minimum: 0,
    maximum: WORKERS_MAX,
    default: ENDPOINT_DEFAULTS.workersMax,
    description: 'Never exceeded, in a rollout neither.',
  })
  readonly max?: number;

  @IntegerField({
    isOptional: true,
    minimum: 1,
    maximum: IDLE_TIMEOUT_MAX_SECONDS,
    default: ENDPOINT_DEFAULTS.idleTimeoutSeconds,
    description: 'Seconds before idle workers go. QUEUE with REQUEST_COUNT has none: 400.',
  })
  readonly idleTimeout?: number;
}

@ApiExtraModels(QueueDelayScalingDto, RequestCountScalingDto)
export class CreateEndpointDto {
  @NameField({ description: 'For people; need not be unique.' })
  readonly name!: string;

  @ChoiceField(['QUEUE', 'LOAD_BALANCER'], { description: 'Routing: through a queue, or straight to the workers.' })
  readonly type!: EndpointType;

  @ScalingField()
  readonly scaling!: ScalingDto;

  @NestedField(GpuRequestDto, { isOptional: true, description: 'Exactly one of gpu and cpu, otherwise 400.' })
  readonly gpu?: GpuRequestDto;

  @NestedListField(CpuRequestDto, {
    isOptional: true,
    minItems: 1,
    maxItems: LIST_MAX,
    isUnique: true,
    description: 'Acceptable CPU sizes, in order of preference. Exactly one of gpu and cpu, otherwise 400.',
  })
  readonly cpu?: CpuRequestDto[];

  @TextField({
    requiredUnless: 'templateId',
    minLength: 1,
    maxLength: IMAGE_MAX,
    pattern: /^\S+$/,
    patternReason: 'must not contain white space',
    description: 'Container image. Required unless templateId is set.',
  })
  readonly image?: string;

  @TextField({
    isOptional: true,
    maxLength: ARGS_MAX,
    rule: argsProblem,
    description: 'Arguments of the entrypoint, split into words like a POSIX shell does, nothing expanded.',
  })
  readonly args?: string;

  @IntegerField({ isOptional: true, minimum: 1, maximum: DISK_MAX_GB, description: 'Container disk in GB.' })
  readonly disk?: number;

  @TextMapField({
    isOptional: true,
    keyPattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    keysMax: ENV_KEYS_MAX,
    bytesMax: ENV_BYTES_MAX,
    description: 'Environment variables: at most 200, 64 KiB in all.',
  })
  readonly env?: Record<string, string>;

  @TextListField({
    isOptional: true,
    isUnique: true,
    maxItems: LIST_MAX,
    rule: portProblem,
    description: 'Each port/protocol, with http, tcp or udp, at most once.',
    example: ['8080/http'],
  })
  readonly ports?: string[];

  @TextField({
    isOptional: true,
    isNullable: true,
    minLength: 1,
    maxLength: TEXT_MAX,
    description: 'Credentials for a private image. Unknown: 404.',
  })
  readonly registry?: string | null;

  @TextField({
    isOptional: true,
    minLength: 1,
    maxLength: TEXT_MAX,
    description: 'Template that gives what the body leaves out. Unknown: 404.',
  })
  readonly templateId?: string;

  @TextListField({
    isOptional: true,
    maxItems: LIST_MAX,
    description: 'Workers are placed here only, in this order of preference; empty: anywhere.',
  })
  readonly dataCenterIds?: string[];

  @TextListField({ isOptional: true, maxItems: LIST_MAX, description: 'Network volumes. Unknown: 404.' })
  readonly networkVolumes?: string[];

  @ChoiceField(['OFF', 'FLASHBOOT', 'PRIORITY_FLASHBOOT'], {
    isOptional: true,
    default: ENDPOINT_DEFAULTS.flashboot,
    description: 'Whether idle workers are kept paused for a faster start.',
  })
  readonly flashboot?: Flashboot;

  @IntegerField({
    isOptional: true,
    minimum: TIMEOUT_MIN_MS,
    maximum: TIMEOUT_MAX_MS,
    default: ENDPOINT_DEFAULTS.executionTimeoutMs,
    description: 'Time limit in ms for the execution of a job that has no policy of its own.',
  })
  readonly timeout?: number;

  @NestedField(WorkersDto, { isOptional: true, description: 'Range of the number of workers.' })
  readonly workers?: WorkersDto;
}
