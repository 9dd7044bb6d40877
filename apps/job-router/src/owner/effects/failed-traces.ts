import { attemptStepName, jobAttributes } from '@berth/contracts';
import {
  viewFailures,
  type CountedEnd,
  type EndpointId,
  type FailedJob,
  type JobId,
  type TouchedJob,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { isRecorded, type Logger, type Step, type Traces } from '@berth/telemetry';
import type { EndpointLogs } from '../logs/endpoint-logs.js';
import type { LogPayloads } from '../logs/log-payloads.js';
import { retryMoved } from '../logs/retry-moved.js';

export interface FailedTracesOptions {
  readonly logs: Pick<EndpointLogs, 'read'>;
  readonly payloads: Pick<LogPayloads, 'body'>;
  readonly traces: Pick<Traces, 'isOn' | 'step' | 'afterwards'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
  /** Told what became of the trace of each failed job. */
  readonly onOver: (outcome: 'recorded' | 'dropped' | 'unread', count: number) => void;
}

/** Failed jobs whose traces are being made. */
const UNDER_WAY_MAX = 256;
/** Of one endpoint, so that one that fails all its jobs leaves room for the others. */
const OF_ENDPOINT_MAX = 64;

/**
 * Records the traces of jobs that fail, also of those that were not meant to be recorded. Nothing is kept for it while
 * a job lives: its log has all the times, and the step that its submission belongs to.
 */
export class FailedTraces {
  readonly #options: FailedTracesOptions;
  #underWay = 0;
  readonly #ofEndpoint = new Map<EndpointId, number>();

  constructor(options: FailedTracesOptions) {
    this.#options = options;
  }

  /** Never throws, never waits. */
  note(endpointId: EndpointId, touched: readonly TouchedJob[]): void {
    const { onOver, traces } = this.#options;
    if (!traces.isOn) return;
    const failed = touched.flatMap(({ end, jobId }) => (end !== undefined && isFailure(end) ? [jobId] : []));
    if (failed.length === 0) return;
    const room = Math.min(UNDER_WAY_MAX - this.#underWay, OF_ENDPOINT_MAX - (this.#ofEndpoint.get(endpointId) ?? 0));
    const taken = failed.slice(0, Math.max(0, room));
    if (taken.length < failed.length) onOver('dropped', failed.length - taken.length);
    if (taken.length > 0) void this.#record(endpointId, taken);
  }

  async #record(endpointId: EndpointId, jobIds: readonly JobId[]): Promise<void> {
    const { logger, onOver } = this.#options;
    this.#count(endpointId, jobIds.length);
    try {
      const failed = await this.#failedOf(endpointId, jobIds);
      if (failed === null) {
        onOver('unread', jobIds.length);
        return;
      }
      for (const each of failed) this.#tell(endpointId, each);
      if (failed.length > 0) onOver('recorded', failed.length);
    } catch (error) {
      onOver('unread', jobIds.length);
      logger.debug('the traces of failed jobs could not be made', { endpointId, error });
    } finally {
      this.#count(endpointId, -jobIds.length);
    }
  }

  #count(endpointId: EndpointId, change: number): void {
    this.#underWay += change;
    const ofEndpoint = (this.#ofEndpoint.get(endpointId) ?? 0) + change;
    if (ofEndpoint === 0) this.#ofEndpoint.delete(endpointId);
    else this.#ofEndpoint.set(endpointId, ofEndpoint);
  }

  /** With the trace that each was submitted in. Null: the log is not read. */
  async #failedOf(endpointId: EndpointId, jobIds: readonly JobId[]): Promise<readonly TracedFailure[] | null> {
    const { logs, payloads } = this.#options;
    const said = await retryMoved(
      () => logs.read(endpointId, (state) => viewFailures(state, jobIds)),
      async (failed: readonly FailedJob[]) => {
        const bodies = await Promise.all(failed.map(({ body }) => payloads.body(endpointId, body)));
        const traced: TracedFailure[] = [];
        for (const [index, job] of failed.entries()) {
          const body = bodies[index];
          if (body === undefined || body === 'moved') return 'moved';
          traced.push({ job, traceparent: body.traceparent });
        }
        return traced;
      },
    );
    return said !== 'silent' && said.kind === 'answer' ? said.answer : null;
  }

  /** What its processes have recorded themselves is not told again, but for attempts whose host may not have said it. */
  #tell(endpointId: EndpointId, { job, traceparent }: TracedFailure): void {
    const { clock, traces } = this.#options;
    const nowMs = clock.nowMs();
    const { attempt, createdAtMs, endedAtMs, history, jobId, state } = job;
    const whole = traces.afterwards(traceparent, { agoMs: nowMs - createdAtMs, name: `job ${jobId} ${attempt}` });
    if (whole === null) return;
    const isLate = !isRecorded(traceparent);
    let waitedFromMs = createdAtMs;
    for (const each of history) {
      if (isLate) this.#wait(whole, { fromMs: waitedFromMs, toMs: each.startedAtMs, nowMs });
      if (isLate || each.outcome === 'lost') {
        // Beside the job, as its host puts it.
        const name = attemptStepName({ jobId, attempt: each.attempt });
        const step = traces.afterwards(traceparent, { agoMs: nowMs - each.startedAtMs, name });
        const { hostId, outcome, workerId } = each;
        step?.end({
          name: 'process job',
          kind: 'consumer',
          attributes: jobAttributes({ endpointId, jobId, attempt: each.attempt, hostId, workerId }),
          error: outcome,
          agoMs: nowMs - each.endedAtMs,
        });
      }
      waitedFromMs = each.endedAtMs;
    }
    const attributes = { ...jobAttributes({ endpointId, jobId, attempt }), 'berth.trace.afterwards': isLate };
    whole.end({ name: 'job', attributes, error: state, agoMs: nowMs - endedAtMs });
  }

  #wait(whole: Step, { fromMs, nowMs, toMs }: Readonly<Record<'fromMs' | 'toMs' | 'nowMs', number>>): void {
    const step = this.#options.traces.step(whole.traceparent, { agoMs: nowMs - fromMs });
    step?.end({ name: 'wait in queue', agoMs: nowMs - toMs });
  }
}

const isFailure = ({ outcome }: CountedEnd): boolean => outcome === 'FAILED' || outcome === 'TIMED_OUT';

interface TracedFailure {
  readonly job: FailedJob;
  readonly traceparent: string | null;
}
