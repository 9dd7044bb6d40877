import {
  OWNER_ANSWER_SHAPES,
  WIRE_VERSION,
  readJson,
  type AnswerOf,
  type OwnerReply,
  type OwnerVerb,
} from '@berth/contracts';
import {
  objectOf,
  oneOf,
  readAs,
  readShape,
  unreadable,
  variantOf,
  type Reading,
  type Shape,
} from '@berth/domain/shape';
import { wireVersion } from './wire-version.js';

const frameOf = (answer: Shape): Shape =>
  objectOf<{ v: number; result: unknown }>({
    v: wireVersion,
    result: variantOf({
      answer: objectOf<{ answer: unknown }>({ answer }),
      refused: objectOf<{ reason: string }>({ reason: oneOf(['busy', 'full', 'stopped']) }),
    }),
  });

const FRAME_SHAPES = Object.fromEntries(
  Object.entries(OWNER_ANSWER_SHAPES).map(([verb, answer]) => [verb, frameOf(answer)]),
) as Readonly<Record<OwnerVerb, Shape>>;

export const encodeOwnerReply = (reply: OwnerReply<unknown>): string =>
  JSON.stringify({ v: WIRE_VERSION, result: reply });

/** Reads a reply to a question of the verb, whatever was answered; never throws. */
export function readOwnerReply<Verb extends OwnerVerb>(
  verb: Verb,
  body: Uint8Array | string,
): Reading<OwnerReply<AnswerOf<Verb>>> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return unreadable(json.reason);
  const reading = readShape<{ readonly result: OwnerReply<AnswerOf<Verb>> }>(FRAME_SHAPES[verb], json.value);
  return reading.kind === 'unreadable' ? reading : readAs(reading.value.result);
}
