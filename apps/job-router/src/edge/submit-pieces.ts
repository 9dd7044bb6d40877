import { INLINE_INPUT_MAX_BYTES, SUBMIT_JOBS_MAX, type JobId } from '@berth/domain';
import type { JobsRequest, Submission } from './jobs.port.js';

/** One job of a request, under the id that it is to have. */
export interface NamedSubmission {
  readonly id: JobId;
  readonly submission: Submission;
}

/** Of one command as it is sent: below what a broker takes by default, with room for what is around it. */
const PIECE_MAX_BYTES = 700 * 1024;
/** The bytes around the texts of a job, and the manifest of an input that lies elsewhere. */
const FRAME_BYTES = 512;
/** Of a JSON text within a JSON text each character takes twice its bytes at most. */
const ESCAPED = 2;

/** No less than what the submission takes in a command, in bytes. */
export function sentBytesMax({ extras, input, sealedExtras, traceparent, webhook }: Submission): number {
  const texts = [extras, sealedExtras, traceparent, webhook].map((text) => Buffer.byteLength(text ?? ''));
  const inputBytes = Buffer.byteLength(input);
  const inlineBytes = inputBytes > INLINE_INPUT_MAX_BYTES ? 0 : inputBytes;
  return FRAME_BYTES + ESCAPED * texts.reduce((sum, bytes) => sum + bytes, inlineBytes);
}

/** As many of the request's jobs as go together into one command, from an item on; one at least. */
export function pieceFrom(
  { size, submissionOf }: Pick<JobsRequest, 'size' | 'submissionOf'>,
  item: number,
  idOf: (item: number) => JobId,
): readonly NamedSubmission[] {
  const piece: NamedSubmission[] = [];
  let bytes = 0;
  for (let at = item; at < size && piece.length < SUBMIT_JOBS_MAX; at += 1) {
    const id = idOf(at);
    const submission = submissionOf(at, id);
    bytes += sentBytesMax(submission);
    // The submission that does not fit any more is made again for the next piece: to keep it would keep the whole list.
    if (bytes > PIECE_MAX_BYTES && piece.length > 0) break;
    piece.push({ id, submission });
  }
  return piece;
}
