import {
  INLINE_INPUT_MAX_BYTES,
  attachmentTtlMs,
  type EndpointId,
  type JobId,
  type JobWish,
  type Payload,
} from '@berth/domain';
import { storePayload, type Blobs } from '@berth/payloads';
import { inParallel, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { JobsRequest } from './jobs.port.js';
import type { NamedSubmission } from './submit-pieces.js';

export interface JobWishesOptions {
  readonly blobs: Pick<Blobs, 'write' | 'remove'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Large inputs of one piece that are written at one time. */
const WRITES_MAX = 4;
/** Names the parts of an input among those of its job. */
const INPUT = 'in';

/** Makes of submissions what an owner is asked to accept: large inputs lie beside the log before anything names them. */
export class JobWishes {
  readonly #options: JobWishesOptions;

  constructor(options: JobWishesOptions) {
    this.#options = options;
  }

  /** All of them, or none: what was written of them by then is removed. @throws what the store of payloads throws */
  async make(
    { endpoint, origin }: Pick<JobsRequest, 'endpoint' | 'origin'>,
    piece: readonly NamedSubmission[],
  ): Promise<readonly JobWish[]> {
    const made = await inParallel(piece, WRITES_MAX, (job) =>
      this.#storeInput(endpoint.id, job).then(
        (input) => ({ kind: 'stored', wish: wishOf(job, origin, input) }) as const,
        (error: unknown) => ({ kind: 'failed', error }) as const,
      ),
    );
    const failure = made.find((each) => each.kind === 'failed');
    if (failure === undefined) return made.flatMap((each) => (each.kind === 'stored' ? [each.wish] : []));
    await this.forget(endpoint.id, piece);
    throw failure.error;
  }

  /** Removes what lies beside the log of jobs that are not accepted, and never will be. */
  async forget(endpointId: EndpointId, piece: readonly NamedSubmission[]): Promise<void> {
    const large = piece.filter(({ submission }) => isLarge(submission.input));
    await inParallel(large, WRITES_MAX, ({ id }) => this.#remove(endpointId, id));
  }

  #storeInput(endpointId: EndpointId, { id, submission }: NamedSubmission): Promise<Payload> {
    const { blobs, clock } = this.#options;
    const nowMs = clock.nowMs();
    return storePayload(
      blobs,
      { endpointId, jobId: id },
      {
        name: INPUT,
        json: submission.input,
        inlineMaxBytes: INLINE_INPUT_MAX_BYTES,
        ttlMs: attachmentTtlMs({ createdAtMs: nowMs }, nowMs),
      },
    );
  }

  /** An input that stays goes by its time to live. */
  async #remove(endpointId: EndpointId, jobId: JobId): Promise<void> {
    const { blobs, logger } = this.#options;
    try {
      await blobs.remove({ endpointId, jobId }, INPUT);
    } catch (error) {
      logger.warn('the input of a job that was not accepted could not be removed', { endpointId, jobId, error });
    }
  }
}

const isLarge = (input: string): boolean => Buffer.byteLength(input) > INLINE_INPUT_MAX_BYTES;

function wishOf({ id, submission }: NamedSubmission, origin: JobsRequest['origin'], input: Payload): JobWish {
  const { executionTimeoutMs, extras, isLowPriority, retentionMs, sealedExtras, traceparent, ttlMs, webhook } =
    submission;
  const inputBytes = input.kind === 'blob' ? input.manifest.sizeBytes : Buffer.byteLength(input.json);
  return {
    jobId: id,
    origin,
    retentionMs,
    executionTimeoutMs,
    isLowPriority,
    webhook,
    bodyBytes: inputBytes + Buffer.byteLength(extras) + Buffer.byteLength(sealedExtras ?? ''),
    ttlMs,
    body: { input, extras, sealedExtras, traceparent },
  };
}
