import {
  JOB_OPERATIONS,
  PlatformError,
  RATE_WINDOW_MS,
  decideAdmission,
  effectiveLimit,
  type AdmissionVerdict,
  type AdmissionRequest,
  type EndpointId,
  type JobOperation,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { RateLimitSettings } from '../platform/index.js';
import type { RateRefusals } from './metrics.js';
import type { RateCounter } from './rate-counter.js';
import type { RateExchange } from './rate-exchange.js';

export interface JobRatesOptions {
  readonly settings: RateLimitSettings;
  readonly exchange: Pick<RateExchange, 'counters' | 'note'>;
  /** Workers of the endpoint that are up and take jobs. */
  readonly readyWorkers: (endpointId: EndpointId) => number;
  readonly refusals: RateRefusals;
  readonly clock: Clock;
}

/** Admits requests of job paths, within the limits of their endpoint and operation. */
export class JobRates {
  readonly #options: JobRatesOptions;

  constructor(options: JobRatesOptions) {
    this.#options = options;
  }

  /**
   * Counts one request, which is in flight until the returned function is called. No router is asked and nothing is waited
   * for. An endpoint is its account's alone, so what is counted for it is counted for the account.
   *
   * @throws PlatformError `rate-limited`, after which nothing was counted
   */
  begin(endpointId: EndpointId, operation: JobOperation): () => void {
    if (!this.#options.settings.isOn) return nothing;
    const counter = this.#options.exchange.counters.of(endpointId, operation);
    this.#admit(counter, { count: 1, inFlight: counter.inFlight });
    counter.begin();
    this.#options.exchange.note(counter, 1);
    let isInFlight = true;
    return () => {
      if (!isInFlight) return;
      isInFlight = false;
      counter.end();
      this.#options.exchange.note(counter, 0);
    };
  }

  /**
   * Counts what a request turned out to ask for beside itself, such as the further jobs of a list: all of it or nothing.
   *
   * @throws PlatformError `rate-limited`
   */
  countMore(endpointId: EndpointId, operation: JobOperation, count: number): void {
    if (!this.#options.settings.isOn || count === 0) return;
    const counter = this.#options.exchange.counters.of(endpointId, operation);
    // In flight it is one request, which has been admitted, and would be counted once more when it came again.
    this.#admit(counter, { count, again: count + 1, inFlight: 0 });
    this.#options.exchange.note(counter, count);
  }

  #admit(counter: RateCounter, { inFlight, ...counts }: Counts & { readonly inFlight: number }): void {
    const { window, operation } = counter;
    const asked = { ...counts, nowMs: this.#options.clock.monotonicMs() };
    let verdict = decideAdmission({ window, inFlight }, JOB_OPERATIONS[operation], asked);
    // Workers are counted only where their number could matter.
    if (verdict.kind === 'refused') verdict = decideAdmission({ window, inFlight }, this.#limitOf(counter), asked);
    if (verdict.kind === 'refused') throw this.#refusal(counter, verdict);
    window.add(asked.count, asked.nowMs);
  }

  #limitOf({ endpointId, operation }: RateCounter) {
    const { readyWorkers, settings } = this.#options;
    const allowance = { ready: readyWorkers(endpointId), requestsPerWorker: settings.requestsPerWorker };
    return effectiveLimit(JOB_OPERATIONS[operation], allowance);
  }

  #refusal({ operation }: RateCounter, { by, limit, retryAfterMs }: Refused): PlatformError {
    this.#options.refusals.inc({ operation, by });
    const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / SECOND_MS));
    const reached =
      by === 'rate' ? `${limit} in ${RATE_WINDOW_MS / SECOND_MS} seconds` : `${limit} in flight at one time`;
    const detail = `Too many ${operation} requests to this endpoint: it takes ${reached}. Try again in ${retryAfterSeconds} s.`;
    return new PlatformError('rate-limited', detail, { retryAfterSeconds });
  }
}

type Counts = Omit<AdmissionRequest, 'nowMs'>;
type Refused = Extract<AdmissionVerdict, { kind: 'refused' }>;

const SECOND_MS = 1_000;
const nothing = (): void => undefined;
