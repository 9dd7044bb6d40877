import { PORT_MAX, splitArgs } from '@berth/domain';
import type { FieldOptions } from '../../fields/field-options.js';
import { TextListField } from '../../fields/list-field.js';
import { TextMapField } from '../../fields/map-field.js';
import { IntegerField } from '../../fields/number-field.js';
import { TextField } from '../../fields/text-field.js';

/** Longest text that is neither a name nor a list of its own: ids, versions. */
export const TEXT_MAX = 255;
/** Longest list where no other bound is given. */
export const LIST_MAX = 256;

const IMAGE_MAX = 1_024;
const ARGS_MAX = 64 * 1_024;
const DISK_MAX_GB = 65_536;
export const ENV_KEYS_MAX = 200;
export const ENV_BYTES_MAX = 64 * 1_024;

type Presence = Pick<FieldOptions, 'isOptional' | 'requiredUnless'>;

/** The fields with which every body describes a container (API decisions 1.4). */
export const ImageField = (presence: Presence = {}): PropertyDecorator =>
  TextField({
    ...presence,
    minLength: 1,
    maxLength: IMAGE_MAX,
    pattern: /^\S+$/,
    patternReason: 'must not contain white space',
    description: `Container image.${presence.requiredUnless === undefined ? '' : ' Required unless templateId is set.'}`,
    example: 'registry.example.com/team/worker:1.4',
  });

export const ArgsField = (): PropertyDecorator =>
  TextField({
    isOptional: true,
    maxLength: ARGS_MAX,
    rule: argsProblem,
    description: 'Arguments of the entrypoint, split into words like a POSIX shell does, nothing expanded.',
    example: "--model llama --prompt 'two words'",
  });

export const DiskField = (): PropertyDecorator =>
  IntegerField({
    isOptional: true,
    minimum: 1,
    maximum: DISK_MAX_GB,
    description:
      'Container disk in GB. A host has so much free for each worker; a worker is kept to it where the storage of its host can, else it says so in its `notes`.',
    example: 20,
  });

export const EnvField = (): PropertyDecorator =>
  TextMapField({
    isOptional: true,
    keyPattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    keysMax: ENV_KEYS_MAX,
    bytesMax: ENV_BYTES_MAX,
    description: 'Environment variables: at most 200, 64 KiB in all.',
    example: { MODEL: 'llama' },
  });

export const PortsField = (): PropertyDecorator =>
  TextListField({
    isOptional: true,
    isUnique: true,
    maxItems: LIST_MAX,
    rule: portProblem,
    description:
      'Each port/protocol, with http, tcp or udp, at most once. Kept as it was said: no port of a worker is published, a queue worker is sent its jobs, and where a load-balanced one listens its variables `PORT` and `PORT_HEALTH` say.',
    example: ['8080/http'],
  });

export const RegistryField = (): PropertyDecorator =>
  TextField({
    isOptional: true,
    isNullable: true,
    minLength: 1,
    maxLength: TEXT_MAX,
    description: 'Credentials for a private image; null: none. Unknown: 404.',
    example: 'k3v9x0q2m7a1zd',
  });

export const CudaVersionsField = (description: string): PropertyDecorator =>
  TextListField({
    isOptional: true,
    maxItems: LIST_MAX,
    pattern: /^\d+\.\d+$/,
    patternReason: 'must be major.minor, such as 12.4',
    description,
    example: ['12.4'],
  });

function argsProblem(text: string): string | null {
  const split = splitArgs(text);
  return split.kind === 'words' ? null : `cannot be split into words: ${split.detail}`;
}

function portProblem(text: string): string | null {
  const [, port = '0'] = /^([1-9]\d{0,4})\/(http|tcp|udp)$/.exec(text) ?? [];
  const isGood = Number(port) >= 1 && Number(port) <= PORT_MAX;
  return isGood ? null : 'must be port/protocol, such as 8080/http, with http, tcp or udp';
}
