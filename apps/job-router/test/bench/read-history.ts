import { HISTORY_READ_SUBJECT, type HistoryReadMessage } from '@berth/contracts';
import { LOG_SHARDS } from '@berth/messaging';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** Says of every log what the job history would say once it has read all that lies there now. */
export async function tellAllRead(connection: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(connection);
  const numbers = Array.from({ length: LOG_SHARDS }, (_, shard) => shard);
  const shards = await Promise.all(
    numbers.map(async (shard) => {
      const { created, state } = await manager.streams.info(`LOG_${shard}`);
      return { shard, streamCreated: created, sequence: state.last_seq };
    }),
  );
  const message: HistoryReadMessage = { shards };
  connection.publish(HISTORY_READ_SUBJECT, JSON.stringify(message));
}
