import { TextMapField } from '../../fields/map-field.js';
import { IntegerField } from '../../fields/number-field.js';
import { ChoiceField, NameField, TextField } from '../../fields/text-field.js';

const HOST_DATA_CENTER_CHARACTERS_MAX = 64;
const LABELS_MAX = 64;
const LABELS_BYTES_MAX = 16 * 1_024;
const TOKEN_LIFE_MIN_SECONDS = 1;
const TOKEN_LIFE_MAX_SECONDS = 30 * 24 * 3_600;

export const DATA_CENTER_DEFAULT = 'LOCAL-1';
export const TOKEN_LIFE_DEFAULT_SECONDS = 3_600;

export class CreateJoinTokenDto {
  @NameField({ description: "The host's name, for people." })
  readonly name!: string;

  @TextField({
    isOptional: true,
    minLength: 1,
    maxLength: HOST_DATA_CENTER_CHARACTERS_MAX,
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    patternReason: "must consist of letters, digits, '.', '_' and '-'",
    default: DATA_CENTER_DEFAULT,
    description: 'Where the host stands. Any id: data centers are the ones that hosts name.',
  })
  readonly dataCenterId?: string;

  @TextMapField({
    isOptional: true,
    keyPattern: /^[A-Za-z0-9][A-Za-z0-9._/-]*$/,
    keysMax: LABELS_MAX,
    bytesMax: LABELS_BYTES_MAX,
    description: "The operator's own words about the host: at most 64, 16 KiB in all.",
    example: { rack: '7' },
  })
  readonly labels?: Record<string, string>;

  @IntegerField({
    isOptional: true,
    minimum: TOKEN_LIFE_MIN_SECONDS,
    maximum: TOKEN_LIFE_MAX_SECONDS,
    default: TOKEN_LIFE_DEFAULT_SECONDS,
    description: 'How long the token may be used.',
  })
  readonly expiresInSeconds?: number;
}

const HOST_ACTIONS = ['cordon', 'uncordon', 'drain', 'readmit'] as const;
export type HostAction = (typeof HOST_ACTIONS)[number];

export class HostActionDto {
  @ChoiceField(HOST_ACTIONS, {
    description:
      '`cordon`: no new workers. `drain`: its workers leave as well. `uncordon`: as before. `readmit`: the host of a ' +
      "cluster's node that was removed may join again.",
  })
  readonly action!: HostAction;
}
