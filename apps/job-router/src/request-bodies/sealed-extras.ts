import type { JobBody, JobKey, RawJson } from '@berth/domain';
import { sliceMembers } from '@berth/domain';
import type { SecretBox } from '@berth/secrets';
import { objectText } from '../platform/index.js';

/** A sealed member opens for its own job only. */
const contextOf = ({ endpointId, jobId }: JobKey): string => `job:${endpointId}:${jobId}`;

/** @param extras JSON object text of the members that must rest encrypted */
export const sealExtras = (box: SecretBox, key: JobKey, extras: RawJson): string => box.seal(extras, contextOf(key));

/**
 * The members that go to the worker, as they came with the request.
 *
 * @throws SecretError when what is sealed cannot be opened
 */
export function openExtras(
  box: SecretBox,
  key: JobKey,
  { extras, sealedExtras }: Pick<JobBody, 'extras' | 'sealedExtras'>,
): RawJson {
  if (sealedExtras === null) return extras;
  const opened = box.open(sealedExtras, contextOf(key));
  return objectText([...sliceMembers(extras), ...sliceMembers(opened)]);
}
