import { StartupError } from '@berth/telemetry';
import type { Broker } from '../broker/broker.js';
import { findStream } from './find-stream.js';

/** In which the versions before logs kept jobs, a record for each. */
const RECORD_STREAMS = Array.from({ length: 16 }, (_, shard) => `JOBS_${shard}`);

/**
 * Nothing here reads the records of older versions: beside any, a router would answer that there are no such jobs, and
 * would never end them. Streams that stand empty promise nothing to anybody and are left alone.
 *
 * @throws StartupError where the broker holds records of jobs
 */
export async function refuseRecords(broker: Broker): Promise<void> {
  const streams = await Promise.all(RECORD_STREAMS.map((name) => findStream(broker, name)));
  const held = streams.flatMap((stream) => {
    const messages = stream?.state.messages ?? 0;
    return stream === null || messages === 0 ? [] : [`${stream.config.name} with ${messages}`];
  });
  if (held.length === 0) return;
  throw new StartupError(
    `The broker holds jobs of an older version: messages in ${held.join(', ')}. This version cannot read them, and there ` +
      'is no migration. Run the older version until they have ended and expired, or delete the streams JOBS_* to give ' +
      'them up, or start with another broker or an empty data folder.',
  );
}
