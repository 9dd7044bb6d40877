import { encodeJson, type DeliveryKey, type JobSight, type RawJson } from '@berth/domain';
import { loadPayload, type Blobs } from '@berth/payloads';
import type { EndToTell } from './owned-deliveries.port.js';

export interface WebhookBodyParts {
  readonly blobs: Pick<Blobs, 'read'>;
  /** The body of `/status`. */
  readonly statusBody: (job: JobSight, output: RawJson | null) => RawJson;
}

/**
 * The body that a receiver gets: that of `/status`, and behind it `input` and `webhook` (wire contract 6.2). Input and
 * output are the text that came. Null: the parts of one are gone, so nothing whole can be told any more.
 *
 * @throws PlatformError `service-unavailable`
 */
export async function webhookBody(
  { blobs, statusBody }: WebhookBodyParts,
  key: DeliveryKey,
  { body, job, url }: EndToTell,
): Promise<Buffer | null> {
  const input = await loadPayload(blobs, key, body.input);
  const output = job.output === null ? null : await loadPayload(blobs, key, job.output);
  if (input === null || (job.output !== null && output === null)) return null;
  const status = statusBody(job, output);
  return Buffer.from(`${status.slice(0, -1)},"input":${input},"webhook":${encodeJson(url)}}`);
}
