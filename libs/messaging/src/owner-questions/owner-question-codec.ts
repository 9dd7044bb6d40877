import { WIRE_VERSION, readJson, type WireRequest } from '@berth/contracts';
import { id, objectOf, readAs, readShape, type Reading } from '@berth/domain/shape';
import type { EndpointId } from '@berth/domain';
import { wireVersion } from './wire-version.js';

/** A question to the owner of a shard. The subject says by which verb. */
export interface OwnerQuestion {
  readonly endpointId: EndpointId;
  readonly question: object;
}

type Frame = WireRequest<OwnerQuestion>;

const FRAME_SHAPE = objectOf<Frame>({
  v: wireVersion,
  body: objectOf<OwnerQuestion>({ endpointId: id, question: objectOf<object>({}) }),
});

export const encodeOwnerQuestion = ({ endpointId, question }: OwnerQuestion): string =>
  JSON.stringify({ v: WIRE_VERSION, body: { endpointId, question } } satisfies Frame);

/**
 * Reads a question, whatever was asked; never throws. The members that the verb demands of the question are still to be
 * looked at.
 */
export function readOwnerQuestion(body: Uint8Array | string): Reading<OwnerQuestion> {
  const json = readJson(body);
  const reading = json.kind === 'unreadable' ? json : readShape<Frame>(FRAME_SHAPE, json.value);
  return reading.kind === 'unreadable' ? reading : readAs(reading.value.body);
}
