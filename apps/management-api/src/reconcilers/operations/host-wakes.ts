import { RESUMED_IDS_MAX, type WakeMessage } from '@berth/contracts';
import { hostIdOf, type FleetOperation, type HostId, type WorkerId } from '@berth/domain';
import type { FleetPublisher } from '../fleet-publisher.port.js';

interface Wake {
  readonly resumed: Set<WorkerId>;
  /** Something else changed for the host, too. */
  isMore: boolean;
}

/** Hosts that are to be woken as soon as the routers know of their workers, over passes until then. */
export class HostWakes {
  readonly #wakes = new Map<HostId, Wake>();

  note(operation: FleetOperation): void {
    const hostId = hostIdOf(operation);
    const wake = this.#wakes.get(hostId) ?? { resumed: new Set(), isMore: false };
    this.#wakes.set(hostId, wake);
    if (operation.kind === 'resume-worker' && wake.resumed.size < RESUMED_IDS_MAX) wake.resumed.add(operation.workerId);
    else wake.isMore = true;
    if (operation.kind === 'pause-worker' || operation.kind === 'drain-worker') wake.resumed.delete(operation.workerId);
  }

  send(publisher: Pick<FleetPublisher, 'wake'>): void {
    for (const [hostId, wake] of this.#wakes) {
      publisher.wake(hostId, messageOf(wake));
      this.#wakes.delete(hostId);
    }
  }
}

const messageOf = ({ isMore, resumed }: Wake): WakeMessage => ({
  resumedIds: [...resumed],
  ...(isMore ? {} : { isAll: true }),
});
