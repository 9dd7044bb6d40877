import { TEMPLATE_CATEGORIES, TEMPLATE_SOURCES, type TemplateCategory, type TemplateSource } from '@berth/domain';
import { BooleanField } from '../../fields/boolean-field.js';
import { NestedField } from '../../fields/nested-field.js';
import { IntegerField } from '../../fields/number-field.js';
import { ChoiceField, NameField, TextField } from '../../fields/text-field.js';
import {
  ArgsField,
  CudaVersionsField,
  DiskField,
  EnvField,
  ImageField,
  PortsField,
  RegistryField,
} from './container-fields.js';

const MOUNT_MIN_GB = 10;
const MOUNT_MAX_GB = 65_536;
const PATH_MAX = 1_024;
const NAME = { description: 'For people; need not be unique.', example: 'llama-server' };
const MOUNTS = 'Disks of a pod made from this template; an empty object: none.';
const SERVERLESS = 'True: endpoints can be made from it. False: pods only.';
const PUBLIC = 'True: every account can read and use it. Its environment can be read by everybody, secrets included.';
const CATEGORY = 'The hardware that it is for.';
const SOURCE =
  'Who vouches for it where it is public. Only a key with the scope admin gives official or verified: 403.';
const SSH = 'Whether a pod starts an SSH server. Endpoints ignore it.';
const JUPYTER = 'Whether a pod starts Jupyter. Endpoints ignore it.';
const CUDA = 'CUDA versions for endpoints on GPUs that say nothing of CUDA themselves; empty: any.';

export class PersistentMountDto {
  @IntegerField({ minimum: MOUNT_MIN_GB, maximum: MOUNT_MAX_GB, description: 'GB.', example: 20 })
  readonly size!: number;

  @TextField({
    maxLength: PATH_MAX,
    pattern: /^\/[^\p{Cc}]*$/u,
    patternReason: 'must be an absolute path without control characters',
    description: 'Absolute path inside the container.',
    example: '/workspace',
  })
  readonly path!: string;
}

export class TemplateMountsDto {
  @NestedField(PersistentMountDto, { isOptional: true, description: 'Kept while the pod exists.' })
  readonly persistent?: PersistentMountDto;
}

export class CreateTemplateDto {
  @NameField(NAME)
  readonly name!: string;

  @ImageField()
  readonly image!: string;

  @ArgsField()
  readonly args?: string;

  @DiskField()
  readonly disk?: number;

  @NestedField(TemplateMountsDto, { isOptional: true, description: MOUNTS })
  readonly mounts?: TemplateMountsDto;

  @PortsField()
  readonly ports?: string[];

  @EnvField()
  readonly env?: Record<string, string>;

  @RegistryField()
  readonly registry?: string | null;

  @BooleanField({ isOptional: true, default: false, description: SERVERLESS, example: true })
  readonly serverless?: boolean;

  @BooleanField({ isOptional: true, default: false, description: PUBLIC, example: false })
  readonly public?: boolean;

  @ChoiceField(TEMPLATE_CATEGORIES, { isOptional: true, default: 'NVIDIA', description: CATEGORY, example: 'NVIDIA' })
  readonly category?: TemplateCategory;

  @ChoiceField(TEMPLATE_SOURCES, { isOptional: true, default: 'community', description: SOURCE, example: 'community' })
  readonly source?: TemplateSource;

  @BooleanField({ isOptional: true, default: true, description: SSH, example: true })
  readonly startSsh?: boolean;

  @BooleanField({ isOptional: true, default: true, description: JUPYTER, example: true })
  readonly startJupyter?: boolean;

  @CudaVersionsField(CUDA)
  readonly allowedCudaVersions?: string[];
}

/** As for a create, but what is left out stays as it is; `env`, `mounts` and lists are replaced whole. */
export class UpdateTemplateDto {
  @NameField({ ...NAME, isOptional: true })
  readonly name?: string;

  @ImageField({ isOptional: true })
  readonly image?: string;

  @ArgsField()
  readonly args?: string;

  @DiskField()
  readonly disk?: number;

  @NestedField(TemplateMountsDto, { isOptional: true, description: MOUNTS })
  readonly mounts?: TemplateMountsDto;

  @PortsField()
  readonly ports?: string[];

  @EnvField()
  readonly env?: Record<string, string>;

  @RegistryField()
  readonly registry?: string | null;

  @BooleanField({ isOptional: true, description: SERVERLESS, example: true })
  readonly serverless?: boolean;

  @BooleanField({ isOptional: true, description: PUBLIC, example: false })
  readonly public?: boolean;

  @ChoiceField(TEMPLATE_CATEGORIES, { isOptional: true, description: CATEGORY, example: 'NVIDIA' })
  readonly category?: TemplateCategory;

  @ChoiceField(TEMPLATE_SOURCES, { isOptional: true, description: SOURCE, example: 'community' })
  readonly source?: TemplateSource;

  @BooleanField({ isOptional: true, description: SSH, example: true })
  readonly startSsh?: boolean;

  @BooleanField({ isOptional: true, description: JUPYTER, example: true })
  readonly startJupyter?: boolean;

  @CudaVersionsField(CUDA)
  readonly allowedCudaVersions?: string[];
}
