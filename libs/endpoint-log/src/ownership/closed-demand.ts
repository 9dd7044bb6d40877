import { NO_DEMAND, type Demand } from '@berth/domain';
import { demandOf } from '../batch/log-index.js';
import type { LogEnd, OpenLog } from '../commit/open-log.js';
import type { LogHead } from '../ports/log-broker.port.js';

/** The demand of an endpoint that this router does not have open, null where it is not known. */
export interface ClosedDemand {
  /** The batch by which it is known, or from which on it will be. */
  readonly last: number;
  readonly demand: Demand | null;
}

/** Of what no index names and nobody here had open. */
export const NEVER_SEEN: ClosedDemand = { last: 0, demand: NO_DEMAND };

export const demandLeft = ({ committed, last }: OpenLog): ClosedDemand => ({ last, demand: demandOf(committed) });

/** When a log has ended by itself, only who was refused knows that nothing more was written than is known here. */
export function demandAtEnd(log: OpenLog, { kind }: LogEnd): ClosedDemand {
  if (kind === 'full' || kind === 'fault') return demandLeft(log);
  return { last: kind === 'lost-to' ? log.last + 1 : log.last, demand: null };
}

/** By the index; null: nothing that was not known. The index may be older than what is known here. */
export function demandAtHead({ demand, last }: ClosedDemand, { index, sequence }: HeadSeen): ClosedDemand | null {
  const isNews = sequence > last || (sequence === last && demand === null);
  return isNews ? { last: sequence, demand: index === null ? null : demandOf(index) } : null;
}

export type HeadSeen = Pick<LogHead, 'index' | 'sequence'>;
