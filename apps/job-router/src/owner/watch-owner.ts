import type { Broker } from '@berth/messaging';
import type { Readiness } from '@berth/telemetry';
import type { RunningOwner } from './compose-owner.js';

/** The last that is made of the streams. */
const CLAIMS_STREAM = 'KV_shards';

/** Ready when every shard has an owner for the first time; one that loses its owner later works less well for a moment. */
export function watchOwner(
  readiness: Readiness,
  { manager }: Broker,
  owner: Pick<RunningOwner, 'unownedShards' | 'unreadShards'>,
): void {
  let wereOwned = false;
  readiness.add('topology', async () => {
    await manager.streams.info(CLAIMS_STREAM);
  });
  readiness.add('shards', async () => {
    const shards = owner.unownedShards();
    wereOwned ||= shards.length === 0;
    if (!wereOwned) throw new Error(`nobody owns the logs of shards ${shards.join(', ')} yet`);
  });
  readiness.addDegradation(() => {
    const shards = owner.unownedShards();
    return shards.length === 0 ? [] : [`nobody owns the logs of shards ${shards.join(', ')}: their requests wait`];
  });
  readiness.addDegradation(() => {
    const shards = owner.unreadShards();
    const what = `the job history is behind: it misses what is purged of the logs of shards ${shards.join(', ')}`;
    return shards.length === 0 ? [] : [what];
  });
}
