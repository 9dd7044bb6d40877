import { readJson } from '@berth/contracts';
import {
  count,
  objectOf,
  optional,
  readShape,
  text,
  type Members,
  type Reading,
  type Shape,
} from '@berth/domain/shape';
import type { ApiError } from './broker-errors.js';

/** The broker's answer: the thing that was asked for, or why not. */
export type BrokerAnswer<Answer extends object> = Answer & { readonly error?: ApiError };

/** Of texts whose only bound is that of the message that they came in. */
const TEXT_MAX_CHARACTERS = 2 ** 30;
export const anyText: Shape = text(TEXT_MAX_CHARACTERS);

/** An error as the broker gives it, without a number or words where it has none of its own. */
interface GivenError {
  readonly code: number;
  readonly err_code?: number;
  readonly description?: string;
}

const FAILURE = objectOf<{ error: GivenError }>({
  error: objectOf<GivenError>({ code: count, err_code: optional(count), description: optional(anyText) }),
});

/**
 * Reads an answer of the broker's own API; never throws.
 *
 * @param members of an answer that is no error. All of them may be absent where `Answer` says so.
 */
export function readAnswer<Answer extends object>(
  members: Members<Answer>,
  body: Uint8Array,
): Reading<BrokerAnswer<Answer>> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  if (!isFailure(json.value)) return readShape(objectOf<Answer>(members), json.value);
  const reading = readShape<{ error: GivenError }>(FAILURE, json.value);
  if (reading.kind === 'unreadable') return reading;
  const { code, description = '', err_code = 0 } = reading.value.error;
  return { kind: 'value', value: { error: { code, err_code, description } } as BrokerAnswer<Answer> };
}

const isFailure = (answer: unknown): boolean =>
  typeof answer === 'object' && (answer as { readonly error?: unknown } | null)?.error !== undefined;
