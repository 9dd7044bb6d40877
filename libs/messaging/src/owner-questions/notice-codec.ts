import { WIRE_VERSION, readJson, type NoticeMessage, type WireRequest } from '@berth/contracts';
import { id, listOf, objectOf, oneOf, readAs, readShape, type Reading } from '@berth/domain/shape';
import { wireVersion } from './wire-version.js';

type Frame = WireRequest<NoticeMessage>;

/** More than any batch of a log can move. */
const JOBS_MAX = 100_000;

const FRAME_SHAPE = objectOf<Frame>({
  v: wireVersion,
  body: objectOf<NoticeMessage>({
    endpointId: id,
    jobs: listOf(
      objectOf<NoticeMessage['jobs'][number]>({ jobId: id, now: oneOf(['moved', 'ended', 'gone']) }),
      JOBS_MAX,
    ),
  }),
});

export const encodeNotice = ({ endpointId, jobs }: NoticeMessage): string =>
  JSON.stringify({ v: WIRE_VERSION, body: { endpointId, jobs } } satisfies Frame);

/** Reads a notice, whatever was told; never throws. */
export function readNotice(body: Uint8Array | string): Reading<NoticeMessage> {
  const json = readJson(body);
  const reading = json.kind === 'unreadable' ? json : readShape<Frame>(FRAME_SHAPE, json.value);
  return reading.kind === 'unreadable' ? reading : readAs(reading.value.body);
}
