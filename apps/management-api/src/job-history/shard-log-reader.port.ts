import type { LogPosition } from '@berth/contracts';
import type { ShardLogPage } from '@berth/messaging';

/** The logs of endpoints, as the projector reads them. */
export interface ShardLogReader {
  /** The page that follows a place; null: there is no such shard yet. @throws PlatformError `service-unavailable` */
  read(shard: number, after: LogPosition | null): Promise<ShardLogPage | null>;
}
