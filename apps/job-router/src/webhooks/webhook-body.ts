import { PlatformError, encodeJson, jobKeyOf, type Job, type RawJson } from '@berth/domain';
import { loadPayload, type JobStore } from '@berth/jobs';

export interface WebhookBodyParts {
  readonly store: Pick<JobStore, 'blobs'>;
  /** The body of `/status`. */
  readonly statusBody: (job: Job) => Promise<RawJson>;
}

/**
 * What a receiver gets: the body of `/status`, and behind it `input` and `webhook` (wire contract, 6.2). Input and output
 * are the text that came. Null: the parts of one are gone, so nothing whole can be told any more.
 *
 * @throws PlatformError `service-unavailable`
 */
export async function webhookBody({ store, statusBody }: WebhookBodyParts, job: Job): Promise<Buffer | null> {
  const input = await loadPayload(store.blobs, jobKeyOf(job), job.input);
  const status = await unlessGone(statusBody(job));
  if (input === null || status === null) return null;
  return Buffer.from(`${status.slice(0, -1)},"input":${input},"webhook":${encodeJson(job.webhook)}}`);
}

async function unlessGone(asked: Promise<RawJson>): Promise<RawJson | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'job-not-found') return null;
    throw error;
  }
}
