import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { ExchangeOutcome } from './exchange/exchange-outcome.js';
import type { LoadBalancerMetrics } from './metrics.js';
import type { Visit } from './visit.js';

export type VisitOutcome = ExchangeOutcome;

export interface AccessLogOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: Pick<Random, 'fraction'>;
  readonly logger: Logger;
  readonly metrics: LoadBalancerMetrics;
}

/** Of requests that were served as they should be, one of so many is logged; of the others one of fewer. */
const SERVED_SHARE = 0.01;
const FAILED_SHARE = 0.1;
const MS_PER_SECOND = 1_000;

/** Counts requests that are over, and writes some of them down. */
export class AccessLog {
  readonly #options: AccessLogOptions;

  constructor(options: AccessLogOptions) {
    this.#options = options;
  }

  note(visit: Visit, outcome: VisitOutcome): void {
    const { clock, logger, metrics, random } = this.#options;
    const tookMs = clock.monotonicMs() - visit.beganAtMs;
    metrics.requests.inc({ outcome: labelOf(outcome) });
    metrics.total.observe(tookMs / MS_PER_SECOND);
    if (random.fraction() >= (outcome.kind === 'failed' ? FAILED_SHARE : SERVED_SHARE)) return;
    const { endpointId, request, requestId, traceparent } = visit;
    const { method, url = '' } = request;
    const told = { endpointId, requestId, traceparent, method, path: url.split('?')[0], tookMs, outcome };
    logger.info('a request to a load-balanced endpoint is over', told);
  }
}

function labelOf(outcome: VisitOutcome): string {
  switch (outcome.kind) {
    case 'answered':
      return `${Math.floor(outcome.status / 100)}xx`;
    case 'upgraded':
      return 'websocket';
    case 'caller-gone':
      return 'caller-gone';
    case 'failed':
      return outcome.code;
  }
}
