import type { EndpointId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import { encodeFact, encodeLines, readLines } from '../batch/fact-lines.js';
import type { LogBroker, LogEntry, LogIndex } from '../ports/log-broker.port.js';

export interface DeleteUnreadTools {
  readonly broker: Pick<LogBroker, 'append' | 'read'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
}

/** Of an endpoint without jobs. */
const NOTHING: LogIndex = {
  dueAtMs: null,
  waitingNormal: 0,
  waitingLow: 0,
  oldestQueuedAtMs: null,
  running: 0,
  runningLow: 0,
  living: 0,
};

/** The next owner of the endpoint counts its terms from here. */
const TERM_UNKNOWN = 0;

/** Whether the entry ends with the word that the endpoint was deleted. */
export const saysDeleted = (entry: LogEntry): boolean =>
  'facts' in entry && readLines(entry.facts).at(-1)?.fact?.kind === 'endpoint-deleted';

/**
 * Says of an endpoint whose log stands still, since nobody can read it, that it was deleted: behind whatever lies there last, so
 * that all before it may go. Safe to repeat.
 *
 * @returns the sequence of the batch that says so; null: it is not known to be there, so this is to be done again
 * @throws PlatformError `service-unavailable` when the log is not shown whole
 */
export async function deleteUnread(tools: DeleteUnreadTools, endpointId: EndpointId): Promise<number | null> {
  const { broker, clock, random } = tools;
  let last: LogEntry | null = null;
  for await (const entry of broker.read(endpointId, 0)) last = entry;
  if (last === null) return null;
  if (saysDeleted(last)) return last.sequence;
  const fact = { kind: 'endpoint-deleted', atMs: clock.nowMs(), term: TERM_UNKNOWN } as const;
  const facts = encodeLines([encodeFact(fact)]);
  const batch = { endpointId, after: last.sequence, batchId: random.uuid(), index: NOTHING, facts };
  const outcome = await broker.append(batch);
  return outcome.kind === 'stored' ? outcome.sequence : null;
}
