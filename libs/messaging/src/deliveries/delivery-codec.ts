import {
  count,
  id,
  instant,
  listOf,
  objectOf,
  oneOf,
  orNull,
  readAs,
  readJson,
  readShape,
  text,
  unreadable,
  type Reading,
} from '@berth/contracts';
import type { Delivery, DeliveryClaim, DeliveryTry } from '@berth/domain';
import { encodeJobRecord, readJobRecord } from '../job-records/job-record-codec.js';

const VERSION = 1;

/** The first line of a record: all but the job, which is the second line in its own form, empty when it is gone. */
type DeliveryV1 = Omit<Delivery, 'job'> & { readonly v: typeof VERSION };

const LINE_FEED = 0x0a;
const URL_MAX_CHARACTERS = 65_536;
/** More tries than any delivery has. */
const TRIES_MAX = 1_000;

const SHAPE = objectOf<DeliveryV1>({
  v: count,
  endpointId: id,
  jobId: id,
  attempt: count,
  url: text(URL_MAX_CHARACTERS),
  createdAtMs: instant,
  tries: listOf(
    objectOf<DeliveryTry>({
      atMs: instant,
      durationMs: orNull(instant),
      statusCode: orNull(count),
      error: orNull(text(URL_MAX_CHARACTERS)),
    }),
    TRIES_MAX,
  ),
  nextAtMs: instant,
  claim: orNull(objectOf<DeliveryClaim>({ token: text(), untilMs: instant })),
  outcome: orNull(oneOf(['delivered', 'failed'])),
});

export function encodeDelivery(delivery: Delivery): string {
  const line: DeliveryV1 = {
    v: VERSION,
    endpointId: delivery.endpointId,
    jobId: delivery.jobId,
    attempt: delivery.attempt,
    url: delivery.url,
    createdAtMs: delivery.createdAtMs,
    tries: delivery.tries,
    nextAtMs: delivery.nextAtMs,
    claim: delivery.claim,
    outcome: delivery.outcome,
  };
  return `${JSON.stringify(line)}\n${delivery.job === null ? '' : encodeJobRecord(delivery.job)}`;
}

/** Whatever was written there; never throws. */
export function readDelivery(body: Uint8Array): Reading<Delivery> {
  const end = body.indexOf(LINE_FEED);
  const json = readJson(body.subarray(0, Math.max(0, end)));
  if (json.kind === 'unreadable') return json;
  const reading = readShape<DeliveryV1>(SHAPE, json.value);
  if (reading.kind === 'unreadable') return reading;
  const { v, ...line } = reading.value;
  if ((v as number) !== VERSION) return unreadable(`it is no delivery of version ${VERSION}`);
  const rest = body.subarray(end + 1);
  if (rest.byteLength === 0) return readAs({ ...line, job: null });
  const job = readJobRecord(rest);
  return job.kind === 'unreadable' ? unreadable(`its job: ${job.reason}`) : readAs({ ...line, job: job.value });
}
