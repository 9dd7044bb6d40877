import type { RouterLogs } from '@berth/endpoint-log';
import type { Clock } from '@berth/lifecycle';
import { LogRooms, type Broker } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { ForeignAppends } from './foreign-appends.js';

export interface LogRoomsParts {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Looking {
  readonly foreign: ForeignAppends;
  /** They ask of the rooms themselves. */
  readonly routerLogs: () => RouterLogs;
}

/** Looks at the streams of the shards that this router owns, and finds out there that somebody else has written to one. */
export const openLogRooms = ({ broker, clock, logger }: LogRoomsParts, { foreign, routerLogs }: Looking): LogRooms =>
  new LogRooms({
    ...{ broker, clock, shards: () => [...ownedShards(routerLogs())] },
    onSeen: (shard, { lastSequence }) => {
      if (foreign.looked(shard, lastSequence)) void routerLogs().lookAgain(shard);
    },
    onError: (error) => logger.warn('how much room there is for logs is not known', { error }),
  });

export const ownedShards = (logs: RouterLogs): ReadonlySet<number> =>
  new Set(logs.ownedShards().map(({ shard }) => shard));
