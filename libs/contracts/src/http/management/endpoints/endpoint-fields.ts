import { ENDPOINT_DEFAULTS, FLASHBOOT_MODES, VCPU_MIN } from '@berth/domain';
import { BooleanField } from '../../fields/boolean-field.js';
import type { FieldOptions } from '../../fields/field-options.js';
import { TextListField } from '../../fields/list-field.js';
import { NestedField } from '../../fields/nested-field.js';
import { IntegerField } from '../../fields/number-field.js';
import { ChoiceField, TextField } from '../../fields/text-field.js';
import { LIST_MAX, TEXT_MAX } from '../templates/container-fields.js';

const ENDPOINT_WORKERS_MAX = 1_000;
const IDLE_TIMEOUT_MAX_SECONDS = 3_600;
const TIMEOUT_MIN_MS = 1_000;
const TIMEOUT_MAX_MS = 604_800_000;

/** The meaning of an omitted field, where that is not "as it is". */
interface Documented {
  readonly default?: unknown;
}

export const NAME: FieldOptions = { description: 'For people; need not be unique.', example: 'llama' };

export const TemplateIdField = (presence: { readonly isOptional?: boolean }, description: string): PropertyDecorator =>
  TextField({ ...presence, minLength: 1, maxLength: TEXT_MAX, description, example: 'k3v9x0q2m7a1zd' });

export const GpuCountField = (documented: Documented = {}): PropertyDecorator =>
  IntegerField({
    ...documented,
    isOptional: true,
    minimum: 1,
    description: 'GPUs per worker, all of one type.',
    example: 1,
  });

export const MinCudaVersionField = (): PropertyDecorator =>
  TextField({
    isOptional: true,
    maxLength: TEXT_MAX,
    pattern: /^\d+\.\d+$/,
    patternReason: 'must be major.minor, such as 12.4',
    description: 'Lowest CUDA version, compared by numbers: 12.11 is above 12.2. Omitted: no floor.',
    example: '12.1',
  });

/** Sizes are powers of two; the catalog knows which of them a flavor has. */
export const VcpuCountField = (
  options: { readonly isOptional?: boolean; readonly default?: number } = {},
): PropertyDecorator =>
  IntegerField({
    ...options,
    minimum: VCPU_MIN,
    rule: powerOfTwoProblem,
    description: "A power of two; outside the flavor's range: 400.",
    example: 4,
  });

function powerOfTwoProblem(count: number): string | null {
  const below = 2 ** Math.floor(Math.log2(count));
  return count === below ? null : `must be a power of two; nearest are ${below} and ${2 * below}`;
}

export const DataCenterIdsField = (documented: Documented = {}): PropertyDecorator =>
  TextListField({
    ...documented,
    isOptional: true,
    maxItems: LIST_MAX,
    description: 'Workers are placed here only, in this order of preference; empty: anywhere. Repeats are merged.',
    example: ['LOCAL-1'],
  });

export const NetworkVolumesField = (documented: Documented = {}): PropertyDecorator =>
  TextListField({
    ...documented,
    isOptional: true,
    maxItems: LIST_MAX,
    description:
      'Network volumes; repeats are merged. Unknown: 404. Workers are placed only where one of them lies, and each has the first that lies in its own data center, at `/runpod-volume`. A `dataCenterIds` that leaves one out: 400.',
    example: ['k3v9x0q2m7a1zd'],
  });

export const FlashbootField = (documented: Documented = {}): PropertyDecorator =>
  ChoiceField(FLASHBOOT_MODES, {
    ...documented,
    isOptional: true,
    description:
      'What becomes of a worker that is idle for long enough. OFF: it leaves. FLASHBOOT: it is paused, on hosts that can, goes on in place of a cold start, and leaves when another worker needs its place. PRIORITY_FLASHBOOT: the same, and it keeps its place. A paused worker counts in workers.max.',
    example: 'FLASHBOOT',
  });

export const TimeoutField = (documented: Documented = {}): PropertyDecorator =>
  IntegerField({
    ...documented,
    isOptional: true,
    minimum: TIMEOUT_MIN_MS,
    maximum: TIMEOUT_MAX_MS,
    description: 'Time limit in ms for the execution of a job that has no policy of its own.',
    example: 600_000,
  });

export const WorkersMinField = (documented: Documented = {}): PropertyDecorator =>
  IntegerField({
    ...documented,
    isOptional: true,
    minimum: 0,
    maximum: ENDPOINT_WORKERS_MAX,
    description: 'Workers kept without any demand. Above the maximum: 400.',
    example: 1,
  });

export const WorkersMaxField = (documented: Documented = {}): PropertyDecorator =>
  IntegerField({
    ...documented,
    isOptional: true,
    minimum: 0,
    maximum: ENDPOINT_WORKERS_MAX,
    description: 'Never exceeded, in a rollout neither.',
    example: 3,
  });

export const IdleTimeoutField = (documented: Documented = {}): PropertyDecorator =>
  IntegerField({
    ...documented,
    isOptional: true,
    minimum: 1,
    maximum: IDLE_TIMEOUT_MAX_SECONDS,
    description: 'Seconds before idle workers go. A QUEUE that scales on REQUEST_COUNT has none: 400.',
    example: 60,
  });

/** Callers of a load-balanced endpoint that need no API key. */
export class LoadBalancerAccessDto {
  @BooleanField({
    isOptional: true,
    description: 'Requests need no API key: everybody reaches the workers, and wakes them.',
    example: false,
  })
  readonly isPublic?: boolean;

  @BooleanField({
    isOptional: true,
    description:
      'CORS preflights, which browsers send without a key (OPTIONS with Origin and Access-Control-Request-Method), go on to the workers. They wake none.',
    example: true,
  })
  readonly allowsPreflights?: boolean;
}

export const LoadBalancerAccessField = (documented: Documented = {}): PropertyDecorator =>
  NestedField(LoadBalancerAccessDto, {
    ...documented,
    isOptional: true,
    isOfSomeKinds: true,
    description: 'What needs no API key at a LOAD_BALANCER endpoint. Of a QUEUE: 400.',
    example: { allowsPreflights: true },
  });

/** Of a create. */
export const DEFAULT_OF = {
  workersMin: { default: ENDPOINT_DEFAULTS.workersMin },
  workersMax: { default: ENDPOINT_DEFAULTS.workersMax },
  idleTimeout: { default: ENDPOINT_DEFAULTS.idleTimeoutSeconds },
  timeout: { default: ENDPOINT_DEFAULTS.executionTimeoutMs },
  flashboot: { default: ENDPOINT_DEFAULTS.flashboot },
} as const;
