import { outputBlobName, type AttemptEnd, type AttemptRef, type DoneResult, type ReportReply } from '@berth/contracts';
import { EXECUTION_TIMEOUT_ERROR, type FinishCommand, type HostId, type Payload } from '@berth/domain';
import type { Blobs } from '@berth/payloads';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { proofOf, type AttemptOwners } from './attempt-owners.js';
import { isBesideLog, storeBesideLog, storedAs } from './inline-output.js';
import type { GatewayMetrics } from '../metrics.js';
import { checkOutput } from './output-check.js';

type ReportOutcome = ReportReply['outcome'];
type Ended = Extract<DoneResult, { readonly kind: 'completed' | 'failed' }>;
type Finishing = Pick<FinishCommand, 'state' | 'error' | 'output' | 'outputBytes'>;

export interface ReportingOptions {
  readonly owners: Pick<AttemptOwners, 'tell' | 'findHeld'>;
  readonly blobs: Pick<Blobs, 'readPart' | 'writePart'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Pick<Random, 'fraction'>;
  readonly metrics: Pick<GatewayMetrics, 'results'>;
  readonly logger: Logger;
}

const NOTHING_SHOWN = { output: null, outputBytes: 0 } as const;

/** Takes what hosts report of the ends of attempts. The token of the present attempt is what gives a word weight. */
export class Reporting {
  readonly #options: ReportingOptions;

  constructor(options: ReportingOptions) {
    this.#options = options;
  }

  async done(hostId: HostId, end: AttemptEnd): Promise<ReportReply> {
    const outcome = await this.#settle(hostId, end);
    this.#options.metrics.results.inc({ kind: end.result.kind, outcome });
    return { outcome };
  }

  async #settle(hostId: HostId, { chunks, result, traceparent: _trace, ...ref }: AttemptEnd): Promise<ReportOutcome> {
    switch (result.kind) {
      case 'completed':
      case 'failed':
        return this.#finish(hostId, ref, { ...(await this.#finishingOf(hostId, ref, result)), chunks });
      case 'timed-out':
        return this.#finish(hostId, ref, {
          ...{ state: 'TIMED_OUT', error: EXECUTION_TIMEOUT_ERROR, ...NOTHING_SHOWN },
          chunks,
        });
      case 'lost':
        return this.#giveUp(hostId, ref, result);
      case 'stopped':
        return this.#letGo(hostId, ref, result);
      default:
        return result satisfies never;
    }
  }

  #finish(
    hostId: HostId,
    ref: AttemptRef,
    finishing: Finishing & Pick<FinishCommand, 'chunks'>,
  ): Promise<ReportOutcome> {
    const command = { kind: 'finish', ...proofOf(hostId, ref), ...finishing, logTail: [] } as const;
    return this.#options.owners.tell(ref.endpointId, command);
  }

  #giveUp(
    hostId: HostId,
    ref: AttemptRef,
    { isCharged, logTail = [], reason }: Extract<DoneResult, { readonly kind: 'lost' }>,
  ): Promise<ReportOutcome> {
    const { logger, owners, random } = this.#options;
    const { endpointId, jobId } = ref;
    logger.info('a host gives a job up', { endpointId, jobId, reason, isCharged });
    const loss = { reason, isCharged, logTail, fraction: random.fraction() };
    return owners.tell(endpointId, { kind: 'give-up', ...proofOf(hostId, ref), ...loss });
  }

  /** The host tells how long ago it was: its clock is not the owner's. */
  #letGo(
    hostId: HostId,
    ref: AttemptRef,
    { agoMs, logTail = [] }: Extract<DoneResult, { readonly kind: 'stopped' }>,
  ): Promise<ReportOutcome> {
    return this.#options.owners.tell(ref.endpointId, { kind: 'let-go', ...proofOf(hostId, ref), agoMs, logTail });
  }

  async #finishingOf(hostId: HostId, ref: AttemptRef, result: Ended): Promise<Finishing> {
    const state = result.kind === 'completed' ? 'COMPLETED' : 'FAILED';
    const error = result.kind === 'completed' ? null : result.error;
    const output = result.output === null ? NOTHING_SHOWN : await this.#outputOf(hostId, ref, result.output);
    return 'fault' in output
      ? { state: 'FAILED', error: `the output was damaged on its way: ${output.fault}`, ...NOTHING_SHOWN }
      : { state, error, ...output };
  }

  /** A result whose output is not whole is a failure that says so: it will not become whole by being sent again. */
  async #outputOf(
    hostId: HostId,
    ref: AttemptRef,
    output: Payload,
  ): Promise<Pick<Finishing, 'output' | 'outputBytes'> | { readonly fault: string }> {
    const { blobs, clock, owners } = this.#options;
    if (output.kind === 'inline' && !isBesideLog(output)) return storedAs(output);
    const held = await owners.findHeld(hostId, ref);
    // The owner will only say how the attempt has ended: its repeated word is known by the token.
    if (held === null) return NOTHING_SHOWN;
    if (output.kind === 'inline') {
      const place = { name: outputBlobName(ref.attempt), createdAtMs: held.createdAtMs, nowMs: clock.nowMs() };
      return storeBesideLog(blobs, output, { ...ref, ...place });
    }
    const fault = await checkOutput(blobs, ref, output.manifest);
    return fault === null ? storedAs(output) : { fault };
  }
}
