import { jobAttributes, readEnd, type AttemptEnd, type EndAnswer } from '@berth/contracts';
import { requireRead } from '@berth/domain/shape';
import type { HostId } from '@berth/domain';
import { toWireError } from '@berth/messaging';
import { duringStep, loggedTrace, runWithLogContext, type Logger, type Traces } from '@berth/telemetry';
import type { Reporting } from './reporting.js';
import { TurnBatch } from './turn-batch.js';

type LoggedTrace = ReturnType<typeof loggedTrace>;

/** An answer takes some bytes; a refusal names what is wrong. */
const ANSWER_BYTES = 512;
const MESSAGE_MAX_BYTES = 64 * 1024;

/**
 * Takes the ends that a host lists in one message side by side, so that those of one endpoint are committed together, and
 * answers each as soon as it is.
 */
export class EndedAttempts {
  readonly #reporting: Pick<Reporting, 'done'>;
  readonly #logger: Logger;
  readonly #traces: Pick<Traces, 'step'>;

  constructor({
    logger,
    reporting,
    traces,
  }: {
    readonly reporting: Pick<Reporting, 'done'>;
    readonly logger: Logger;
    readonly traces: Pick<Traces, 'step'>;
  }) {
    this.#reporting = reporting;
    this.#logger = logger;
    this.#traces = traces;
  }

  /** Never rejects: what happens to one end is said of that one. */
  async take(hostId: HostId, ends: readonly unknown[], tell: (answers: readonly EndAnswer[]) => void): Promise<void> {
    const gathering = new TurnBatch({ tell, bytesOf: () => ANSWER_BYTES, bytesMax: MESSAGE_MAX_BYTES });
    await Promise.all(ends.map(async (end, place) => gathering.add(await this.#one(hostId, end, place))));
    gathering.flush();
  }

  async #one(hostId: HostId, message: unknown, place: number): Promise<EndAnswer> {
    let trace: LoggedTrace = {};
    try {
      const end = requireRead(readEnd(message), `$.ends[${place}]`);
      trace = loggedTrace(end.traceparent);
      const { outcome } = await this.#commit(hostId, end, trace);
      return { place, outcome };
    } catch (error) {
      const refusal = toWireError(error);
      if (refusal.code === 'internal-error')
        this.#logger.error('the end of an attempt could not be taken', { hostId, ...trace, error });
      return { place, error: refusal };
    }
  }

  /** Log lines about it stand under the trace of the request that submitted the job. */
  #commit(hostId: HostId, end: AttemptEnd, trace: LoggedTrace): ReturnType<Reporting['done']> {
    const commit = (): ReturnType<Reporting['done']> => this.#reporting.done(hostId, end);
    if (trace.traceId === undefined) return commit();
    const { attempt, endpointId, jobId, result, traceparent } = end;
    const attributes = { ...jobAttributes({ attempt, endpointId, jobId, hostId }), 'berth.attempt.end': result.kind };
    return runWithLogContext({ hostId, ...trace }, () =>
      duringStep(this.#traces.step(traceparent), { name: 'commit end', attributes }, commit),
    );
  }
}
