import { JOB_STATES, LIFE_MIN_MS, TTL_MAX_MS, WAIT_MAX_MS, WAIT_MIN_MS, parsePageCursor } from '@berth/domain';
import { field, type FieldOptions } from '../fields/field-options.js';
import { QueryBooleanField, QueryIntegerField } from '../fields/query-field.js';
import { SatisfiesRule } from '../fields/satisfies-rule.js';

const MS_DIGITS_MAX = 9;

const MsField = (minimum: number, maximum: number, description: string): PropertyDecorator =>
  QueryIntegerField({
    isOptional: true,
    minimum,
    maximum,
    digitsMax: MS_DIGITS_MAX,
    reason: `must be an integer from ${minimum} to ${maximum} (milliseconds)`,
    description,
  });

/** The query of a call that is held. */
export class WaitQueryDto {
  @MsField(WAIT_MIN_MS, WAIT_MAX_MS, 'How long the caller is held at most.')
  readonly wait?: number;
}

/** The query of a status request. */
export class StatusQueryDto {
  @MsField(LIFE_MIN_MS, TTL_MAX_MS, 'How long the job may live from now on.')
  readonly ttl?: number;

  @QueryBooleanField({ isOptional: true, description: 'Whether the answer tells the trace of the job.' })
  readonly debug?: boolean;
}

export const REQUESTS_LIMIT_DEFAULT = 20;
export const REQUESTS_LIMIT_MAX = 100;
const LIMIT_DIGITS_MAX = 3;

/** A parameter that is repeated is a list too. */
const wordsOf = (value: unknown): readonly string[] =>
  [value]
    .flat()
    .filter((each) => typeof each === 'string')
    .join(',')
    .split(',')
    .map((word) => word.trim());

const isState = (word: unknown): boolean => JOB_STATES.some((state) => state === word);

const StatesField = (options: FieldOptions): PropertyDecorator =>
  field(
    { ...options, read: wordsOf },
    { type: 'array', items: { type: 'string', enum: [...JOB_STATES] } },
    SatisfiesRule('states', (words) =>
      (words as readonly string[]).every(isState)
        ? null
        : `must be one or several, comma separated, of ${JOB_STATES.join(', ')}`,
    ),
  );

const CursorField = (options: FieldOptions): PropertyDecorator =>
  field(
    options,
    { type: 'string' },
    SatisfiesRule('cursor', (value) =>
      typeof value === 'string' && parsePageCursor(value) !== null
        ? null
        : 'must be one that an answer of this path has named',
    ),
  );

/** The query of a list of jobs (API decisions 2.15). */
export class RequestsQueryDto {
  @StatesField({ isOptional: true, description: 'Jobs of these statuses alone, comma separated.' })
  readonly status?: string[];

  @QueryIntegerField({
    isOptional: true,
    minimum: 1,
    maximum: REQUESTS_LIMIT_MAX,
    digitsMax: LIMIT_DIGITS_MAX,
    reason: `must be an integer from 1 to ${REQUESTS_LIMIT_MAX}`,
    description: 'How many at most.',
  })
  readonly limit?: number;

  @CursorField({ isOptional: true, description: 'The page that an answer of this path named.' })
  readonly cursor?: string;
}
