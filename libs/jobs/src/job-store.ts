import type { Clock, Random } from '@berth/lifecycle';
import type { Blobs, Chunks } from './ports/attachments.port.js';
import type { Deliveries } from './ports/deliveries.port.js';
import type { Leases } from './ports/leases.port.js';
import type { Reservations } from './ports/reservations.port.js';
import type { StopSignals } from './ports/stop-signals.port.js';
import type { Tickets } from './ports/tickets.port.js';
import type { RecallableRecords } from './recent-records.js';

/** Everything the life of a job is written to, and the time and chance it needs. */
export interface JobStore {
  readonly records: RecallableRecords;
  readonly tickets: Tickets;
  readonly leases: Leases;
  readonly blobs: Blobs;
  readonly chunks: Chunks;
  readonly deliveries: Deliveries;
  readonly reservations: Reservations;
  readonly stopSignals: StopSignals;
  readonly clock: Clock;
  readonly random: Random;
}
