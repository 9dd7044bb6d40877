import type { AttemptRef, RenewReply, RenewRequest } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';
import { WAIT_OVER, inParallel, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { Owners } from '../../owners/index.js';
import { proofOf } from './attempt-owners.js';
import type { GatewayMetrics } from '../metrics.js';

type RenewalOutcome = RenewReply['outcomes'][number];

/** Endpoints of one message that are asked side by side. */
const ENDPOINTS_AT_ONCE = 64;
/** The host waits for four seconds, and must hear by then of the endpoints that did answer. */
const ANSWER_MS = 3_000;

export interface RenewingOptions {
  readonly owners: Owners;
  readonly clock: Clock;
  readonly metrics: Pick<GatewayMetrics, 'renewals'>;
  readonly logger: Logger;
}

/** Prolongs the leases that a host holds. */
export class Renewing {
  readonly #options: RenewingOptions;

  constructor(options: RenewingOptions) {
    this.#options = options;
  }

  /** One endpoint that cannot be asked costs the others of the message nothing. */
  async renew(hostId: HostId, { leases }: RenewRequest): Promise<RenewReply> {
    const { clock, logger, metrics, owners } = this.#options;
    const outcomes = leases.map((): RenewalOutcome => 'unknown');
    const failures: unknown[] = [];
    const answered = new AbortController();
    const late = new AbortController();
    void clock.sleep(ANSWER_MS, answered.signal).then(() => late.abort());
    await inParallel(byEndpoint(leases), ENDPOINTS_AT_ONCE, async ([endpointId, places]) => {
      try {
        const proofs = places.map((place) => proofOf(hostId, leases[place] as AttemptRef));
        const said = await owners.ask(endpointId, 'renew', { proofs }, { signal: late.signal });
        for (const [order, place] of places.entries()) outcomes[place] = said[order] ?? 'unknown';
      } catch (error) {
        failures.push(error);
      }
    });
    answered.abort(WAIT_OVER);
    for (const outcome of outcomes) metrics.renewals.inc({ outcome });
    if (failures.length > 0) {
      logger.warn('leases could not be renewed', { hostId, endpoints: failures.length, error: failures[0] });
    }
    return { outcomes };
  }
}

/** Where in the list the leases of each endpoint stand. */
function byEndpoint(leases: readonly AttemptRef[]): readonly (readonly [EndpointId, readonly number[]])[] {
  return [...Map.groupBy(leases.keys(), (place) => (leases[place] as AttemptRef).endpointId)];
}
