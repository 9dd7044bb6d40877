import type { EndpointId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import type { ConformingLog } from '@berth/testing/conformance';
import type { Broker } from '../../src/broker/broker.js';
import { NatsLogBroker } from '../../src/endpoint-log/nats-log-broker.js';
import { logShard } from '../../src/topology/shards.js';
import { logStream, logSubject } from '../../src/topology/subjects.js';

/** The real broker, and what the suite does behind its back. */
export function conformingLog(broker: Broker): ConformingLog {
  const streams = broker.manager.streams;
  const limits = new Map<string, number>();
  return {
    port: new NatsLogBroker({ broker, clock: systemClock }),
    shardOf: logShard,
    putGarbage: async (endpointId: EndpointId) => {
      const answer = await broker.request(logSubject(endpointId), 'no \u001b[31mbatch\n');
      return (JSON.parse(answer.string()) as { readonly seq: number }).seq;
    },
    leaveRoom: async (endpointId, bytes) => {
      const stream = logStream(logShard(endpointId));
      const { config, state } = await streams.info(stream);
      if (bytes !== null) limits.set(stream, config.max_bytes);
      await streams.update(stream, { max_bytes: bytes === null ? (limits.get(stream) ?? -1) : state.bytes + bytes });
    },
  };
}
