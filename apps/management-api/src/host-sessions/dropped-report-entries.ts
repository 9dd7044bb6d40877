import type { DroppedEntries } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { reportMetrics } from './metrics.js';

/** Entries of hosts' reports that could not be read: counted each time, logged once until a host's report is whole again. */
export class DroppedReportEntries {
  readonly #logger: Logger;
  readonly #total;
  /** Hosts whose last report was not whole. Only hosts that have joined come here. */
  readonly #complained = new Set<HostId>();

  constructor(metrics: MetricRegistry, logger: Logger) {
    this.#logger = logger;
    this.#total = reportMetrics(metrics).dropped;
  }

  /** @param dropped null for a report that was taken whole */
  note(hostId: HostId, dropped: DroppedEntries | null): void {
    if (dropped === null) {
      this.#complained.delete(hostId);
      return;
    }
    const { count, examples } = dropped;
    this.#total.inc(count);
    if (this.#complained.has(hostId)) return;
    this.#complained.add(hostId);
    this.#logger.warn('part of a report of a host cannot be read; the rest is taken', { hostId, count, examples });
  }
}
