import type { ClaimDeed, EndpointEvent, UnreadPurge } from '@berth/endpoint-log';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { toldEventOf } from './logs/told-events.js';
import type { OwnerMetrics } from './metrics.js';

export interface OwnerLogLinesOptions {
  readonly logger: Logger;
  readonly metrics: OwnerMetrics;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** A broker that is away is met by every endpoint; one line tells of them. */
const UNANSWERED_AGAIN_MS = 60_000;
/** The same of a job history that is behind: each endpoint of its shard meets it. */
const UNREAD_PURGED_AGAIN_MS = 60_000;

/** Turns what happens to shards and endpoints into metrics and lines. */
export class OwnerLogLines {
  readonly #options: OwnerLogLinesOptions;
  #unansweredAtMs = Number.NEGATIVE_INFINITY;
  #unreadPurgedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: OwnerLogLinesOptions) {
    this.#options = options;
  }

  taken(shard: number, term: number): void {
    this.#options.logger.info(`shard ${shard} is owned here`, { shard, term });
  }

  lost(shard: number, reason: string): void {
    this.#options.logger.info(`shard ${shard} is not owned here any more`, { shard, reason });
  }

  trustChanged(shard: number, isTrusted: boolean): void {
    const { logger } = this.#options;
    if (isTrusted) logger.debug(`shard ${shard} is owned for certain`, { shard });
    else logger.warn(`shard ${shard} is not owned for certain: what its endpoints are asked waits`, { shard });
  }

  deed({ decision, outcome }: ClaimDeed): void {
    this.#options.metrics.claims.inc({ decision: decision.kind, outcome });
  }

  failed(name: string, error: unknown): void {
    this.#options.logger.warn(`${name} ended early; it goes on`, { error });
  }

  unreadable(endpointId: string, sequence: number, error: unknown): void {
    this.#options.logger.error('a batch of a log has no facts that could be read', { endpointId, sequence, error });
  }

  event(event: EndpointEvent): void {
    const { logger, metrics } = this.#options;
    const { endpointId } = event;
    metrics.endpoints.inc({ event: toldEventOf(event) });
    switch (event.kind) {
      case 'opened':
        metrics.openingSeconds.observe(event.durationMs / 1_000);
        logger.debug('the log of an endpoint was opened', { endpointId, durationMs: event.durationMs });
        return;
      case 'closed':
        if (event.reason === 'full') logger.error('there is no room for the log of an endpoint', { endpointId });
        else logger.debug('the log of an endpoint was closed', { endpointId, reason: event.reason });
        return;
      case 'stopped':
        logger.error(
          `ALARM: endpoint ${endpointId} has stopped, since its log cannot be gone on with: ${event.reason}. ` +
            `Its requests are refused until somebody has looked: berth log ${endpointId} --check`,
          { endpointId },
        );
        return;
      case 'unanswered':
        this.#unanswered(endpointId, event.error);
        return;
      case 'purged-unread':
        this.#unreadPurged(endpointId, event.reason);
        return;
      default:
        event satisfies never;
    }
  }

  #unreadPurged(endpointId: string, reason: UnreadPurge): void {
    const { clock, logger, metrics } = this.#options;
    metrics.unreadPurges.inc({ reason });
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#unreadPurgedAtMs < UNREAD_PURGED_AGAIN_MS) return;
    this.#unreadPurgedAtMs = nowMs;
    logger.error(`a log was purged that the job history has not read: ${UNREAD_REASONS[reason]}`, {
      endpointId,
      reason,
    });
  }

  #unanswered(endpointId: string, error: unknown): void {
    const { clock, logger } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#unansweredAtMs < UNANSWERED_AGAIN_MS) return;
    this.#unansweredAtMs = nowMs;
    logger.warn('the broker does not answer for the logs of endpoints; it is asked again', { endpointId, error });
  }
}

const UNREAD_REASONS: Readonly<Record<UnreadPurge, string>> = {
  aged: 'it had waited for a day',
  full: 'the room for logs is needed',
};
