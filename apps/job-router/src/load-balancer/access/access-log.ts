import { cleanText } from '@berth/domain';
import { StrangersLines, type LineRoom } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { ExchangeOutcome } from '../exchange/exchange-outcome.js';
import type { LoadBalancerMetrics } from '../metrics.js';
import { traceIdOfVisit, type Visit } from '../visit.js';
import { CountedEnds } from './counted-ends.js';
import { LineBudget } from './line-budget.js';
import { labelOf, statusOf, type VisitEnd } from './visit-end.js';

export interface AccessLogOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: Pick<Random, 'fraction'>;
  readonly logger: Logger;
  readonly metrics: LoadBalancerMetrics;
  /** Of 1,000 requests that we did not fail, as many are logged. */
  readonly loggedPermille: number;
}

const PERMILLE = 1_000;
const MS_PER_SECOND = 1_000;
/** Paths say whose data somebody asked for, and where: their beginning tells one use of a worker from another. */
const PATH_MAX_CHARACTERS = 100;
const NAME_MAX_CHARACTERS = 64;

/** Counts requests that are over, and writes some of them down: all that we failed, as far as there is room. */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #counted: CountedEnds;
  readonly #ours = new LineBudget();
  readonly #others = new LineBudget();
  readonly #strangers = new StrangersLines();

  constructor(options: AccessLogOptions) {
    this.#options = options;
    this.#counted = new CountedEnds(options.metrics.requests);
  }

  note(visit: Visit, end: VisitEnd): void {
    const { clock, loggedPermille, metrics, random } = this.#options;
    const { outcome } = end;
    const nowMs = clock.monotonicMs();
    this.#counted.note(end.endpointId, labelOf(outcome), nowMs);
    metrics.requestBytes.inc(visit.traffic.inBytes);
    metrics.answerBytes.inc(visit.traffic.outBytes);
    if (outcome.kind !== 'upgraded')
      metrics.total.observe({}, (nowMs - visit.beganAtMs) / MS_PER_SECOND, visit.trace?.traceparent);
    const isOurs = outcome.kind === 'failed';
    if (!isOurs && random.fraction() * PERMILLE >= loggedPermille) return;
    const room = this.#roomFor(visit, end, nowMs);
    if (room === null) metrics.unlogged.inc();
    else this.#write(visit, end, { nowMs, ...room });
  }

  /** A request that was let to no endpoint has whatever name its caller likes, and takes no line from those that were. */
  #roomFor({ endpointId }: Visit, { endpointId: admittedTo, outcome }: VisitEnd, nowMs: number): LineRoom | null {
    if (admittedTo === null) return this.#strangers.take(nowMs);
    const budget = outcome.kind === 'failed' ? this.#ours : this.#others;
    return budget.take(endpointId, nowMs) ? {} : null;
  }

  /** Nothing of a query, a header's value or a body: callers put keys and people's data there. */
  #write(visit: Visit, { outcome, worker }: VisitEnd, { nowMs, ...room }: LineRoom & { readonly nowMs: number }): void {
    const { beganAtMs, endpointId, request, requestId, response, traffic } = visit;
    const { method = '', url = '' } = request;
    const workerId = worker?.id ?? null;
    this.#options.logger.info('a request to a load-balanced endpoint is over', {
      ...{ requestId, endpointId: cleanText(endpointId, NAME_MAX_CHARACTERS), workerId },
      ...{ method, path: cleanText(url.split('?', 1)[0] ?? '', PATH_MAX_CHARACTERS) },
      ...{ outcome: labelOf(outcome), status: statusOf(outcome, response), isCut: isCut(outcome) },
      ...{ tookMs: Math.round(nowMs - beganAtMs), ...traffic, traceId: traceIdOfVisit(visit) },
      ...room,
    });
  }
}

const isCut = (outcome: ExchangeOutcome): boolean => outcome.kind === 'failed' && outcome.wasCut;
