import type { Logger } from '@berth/telemetry';

export type StreamChange = 'created' | 'updated';

/** The names of the streams that were made, and of those that were changed, in the order of the topology. */
export type TopologyChanges = Readonly<Record<StreamChange, readonly string[]>>;

/** Writes one line for all changes of one look at the streams. */
export const topologyLog =
  (logger: Pick<Logger, 'info'>) =>
  (changes: TopologyChanges): void => {
    logger.info(describeChanges(changes));
  };

/** One sentence, however many streams there are: `made 65 streams (16 LOG, 1 KV, …); changed LOG_3`. */
function describeChanges({ created, updated }: TopologyChanges): string {
  const made = `made ${created.length} ${created.length === 1 ? 'stream' : 'streams'} (${countFamilies(created)})`;
  const changed = `changed ${updated.join(', ')}`;
  return [...(created.length > 0 ? [made] : []), ...(updated.length > 0 ? [changed] : [])].join('; ');
}

function countFamilies(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) {
    const [family = name] = name.split('_');
    counts.set(family, (counts.get(family) ?? 0) + 1);
  }
  return [...counts].map(([family, count]) => `${count} ${family}`).join(', ');
}
