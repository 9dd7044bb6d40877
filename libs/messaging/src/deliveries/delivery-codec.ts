import type { Delivery } from '@berth/domain';
import { decodeText } from '../broker/text.js';
import { decodeJobRecord, encodeJobRecord } from '../job-records/job-record-codec.js';

const VERSION = 1;

/** The first line of a record: all but the job, which is the second line in its own form, empty when it is gone. */
type DeliveryV1 = Omit<Delivery, 'job'> & { readonly v: typeof VERSION };

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

/** @throws Error when the record was written in a form that this process does not know */
export function decodeDelivery(body: Uint8Array): Delivery {
  const text = decodeText(body);
  const end = text.indexOf('\n');
  const { v, ...line } = JSON.parse(text.slice(0, end)) as DeliveryV1;
  if ((v as number) !== VERSION) throw new Error(`delivery of version ${String(v)}: this process reads ${VERSION}`);
  const job = text.slice(end + 1);
  return { ...line, job: job === '' ? null : decodeJobRecord(job) };
}
