import {
  outputBlobName,
  type AttemptRef,
  type ChunkRequest,
  type DoneRequest,
  type DoneResult,
  type DownloadReply,
  type DownloadRequest,
  type ProgressRequest,
  type RenewReply,
  type RenewRequest,
  type ReportReply,
  type UploadRequest,
} from '@berth/contracts';
import {
  BLOB_PART_BYTES,
  EXECUTION_TIMEOUT_ERROR,
  PlatformError,
  attachmentTtlMs,
  jobKeyOf,
  type HostId,
  type Job,
  type Result,
} from '@berth/domain';
import {
  finishAttempt,
  giveUpAttempt,
  recordProgress,
  renewLease,
  settleStopped,
  type JobStore,
  type RenewOutcome,
} from '@berth/jobs';
import { inParallel } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { JobNotices } from '../jobs/job-notices.port.js';
import { readHeldJob, readOwnJob } from './held-job.js';
import type { GatewayMetrics } from './metrics.js';
import { checkOutput } from './output-check.js';

/** Leases of one message that are renewed side by side. */
const RENEWALS_AT_ONCE = 32;

const RECORDED: ReportReply = { outcome: 'recorded' };
const SUPERSEDED: ReportReply = { outcome: 'superseded' };

export interface ReportingOptions {
  readonly store: JobStore;
  readonly notices: JobNotices;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

type Lost = Extract<DoneResult, { readonly kind: 'lost' }>;
type Stopped = Extract<DoneResult, { readonly kind: 'stopped' }>;

/** Takes what hosts report of the jobs that they hold. The token of the present attempt is what gives a word weight. */
export class Reporting {
  readonly #store: JobStore;
  readonly #notices: JobNotices;
  readonly #metrics: GatewayMetrics;
  readonly #logger: Logger;

  constructor({ store, notices, metrics, logger }: ReportingOptions) {
    this.#store = store;
    this.#notices = notices;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  async renew(hostId: HostId, { leases }: RenewRequest): Promise<RenewReply> {
    return { outcomes: await inParallel(leases, RENEWALS_AT_ONCE, (ref) => this.#renewOne(hostId, ref)) };
  }

  async chunk(hostId: HostId, { index, body, ...ref }: ChunkRequest): Promise<ReportReply> {
    const job = await readHeldJob(this.#store, hostId, ref);
    if (job === null) return SUPERSEDED;
    await this.#store.chunks.append(ref, { attempt: ref.attempt, index, body }, this.#attachmentTtlMs(job));
    this.#notices.ring(ref);
    return RECORDED;
  }

  async progress(hostId: HostId, { output, ...ref }: ProgressRequest): Promise<ReportReply> {
    if ((await readHeldJob(this.#store, hostId, ref)) === null) return SUPERSEDED;
    return { outcome: await recordProgress(this.#store, ref, output) };
  }

  /** One part of the input. Null parts tell the agent that the job is gone. */
  async download(hostId: HostId, { part, ...ref }: DownloadRequest): Promise<DownloadReply> {
    const job = await readHeldJob(this.#store, hostId, ref);
    if (job === null) return { base64: null };
    if (job.input.kind === 'inline' || part >= job.input.manifest.parts) {
      throw new PlatformError('invalid-fields', '$.part: the input has no such part');
    }
    const bytes = await this.#store.blobs.readPart(ref, job.input.manifest.name, part);
    return { base64: bytes === null ? null : Buffer.from(bytes).toString('base64') };
  }

  async upload(hostId: HostId, { part, base64, ...ref }: UploadRequest): Promise<ReportReply> {
    const job = await readHeldJob(this.#store, hostId, ref);
    if (job === null) return SUPERSEDED;
    const bytes = Buffer.from(base64, 'base64');
    if (bytes.byteLength > BLOB_PART_BYTES)
      throw new PlatformError('invalid-fields', '$.base64: the part is too large');
    const name = outputBlobName(ref.attempt);
    await this.#store.blobs.writePart(ref, { name, index: part, bytes }, this.#attachmentTtlMs(job));
    return RECORDED;
  }

  async done(hostId: HostId, request: DoneRequest): Promise<ReportReply> {
    const job = await readOwnJob(this.#store, hostId, request);
    const outcome = job === null ? 'superseded' : await this.#settle(job, request);
    this.#metrics.results.inc({ kind: request.result.kind, outcome });
    return { outcome };
  }

  async #settle(job: Job, { result, chunks, ...ref }: DoneRequest): Promise<ReportReply['outcome']> {
    if (result.kind === 'lost') return this.#giveUp(ref, result);
    if (result.kind === 'stopped') return this.#noteStop(ref, result);
    const { endpointId, jobId, token } = ref;
    return finishAttempt(this.#store, { endpointId, jobId, token }, await this.#resultOf(job, result, chunks));
  }

  /** The host tells how long ago it was: its clock is not this one. */
  #noteStop(ref: AttemptRef, { agoMs, logTail }: Stopped): Promise<ReportReply['outcome']> {
    return settleStopped(this.#store, { ...ref, logTail }, this.#store.clock.nowMs() - agoMs);
  }

  async #giveUp(ref: AttemptRef, { reason, isCharged, logTail }: Lost): Promise<ReportReply['outcome']> {
    this.#logger.info('a host gives a job up', { endpointId: ref.endpointId, jobId: ref.jobId, reason, isCharged });
    const { kind } = await giveUpAttempt(this.#store, { ...ref, reason, isCharged, logTail });
    return kind === 'changed' || kind === 'unchanged' ? 'recorded' : 'superseded';
  }

  /** A result whose output is not whole is a failure that says so: it will not become whole by being sent again. */
  async #resultOf(job: Job, result: Exclude<DoneResult, Lost | Stopped>, chunks: number): Promise<Result> {
    if (result.kind === 'timed-out') return { kind: 'timed-out', error: EXECUTION_TIMEOUT_ERROR, chunks };
    if (result.output?.kind === 'blob' && job.state === 'IN_PROGRESS') {
      const place = { ...jobKeyOf(job), attempt: job.attempt };
      const fault = await checkOutput(this.#store.blobs, place, result.output.manifest);
      if (fault !== null)
        return { kind: 'failed', error: `the output was damaged on its way: ${fault}`, output: null, chunks };
    }
    return { ...result, chunks };
  }

  async #renewOne(hostId: HostId, { endpointId, jobId, attempt, token }: AttemptRef): Promise<RenewOutcome> {
    try {
      const outcome = await renewLease(this.#store, { endpointId, jobId, attempt, token }, hostId);
      this.#metrics.renewals.inc({ outcome });
      return outcome;
    } catch (error) {
      // One lease that cannot be asked about must not cost the others of the message their renewal.
      this.#metrics.renewals.inc({ outcome: 'unknown' });
      this.#logger.warn('a lease could not be renewed', { endpointId, jobId, error });
      return 'unknown';
    }
  }

  #attachmentTtlMs(job: Job): number {
    return attachmentTtlMs(job, this.#store.clock.nowMs());
  }
}
