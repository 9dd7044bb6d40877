import { encodeJson, type EndpointId, type HostId, type JobId, type LogFact, type WorkerId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import type { Broker } from '../../src/broker/broker.js';
import { headersOf } from '../../src/broker/headers.js';
import { batchHeaders } from '../../src/endpoint-log/log-batch-codec.js';
import { logShard } from '../../src/topology/shards.js';
import { logSubject } from '../../src/topology/subjects.js';
import { QUIET } from '../endpoint-log/log-writer.js';

/** An endpoint of that shard. */
export function endpointOf(shard: number): EndpointId {
  for (;;) {
    const endpointId = `ep-${systemRandom.id(8)}` as EndpointId;
    if (logShard(endpointId) === shard) return endpointId;
  }
}

export const cancelled = (jobId: string, createdAtMs = 1): LogFact => ({
  kind: 'cancelled',
  atMs: createdAtMs + 1,
  jobId: jobId as JobId,
  summary: {
    origin: 'run',
    createdAtMs,
    queuedAtMs: createdAtMs,
    attempt: 1,
    startedAtMs: createdAtMs,
    hostId: 'h1' as HostId,
    workerId: 'w1' as WorkerId,
    webhook: null,
  },
});

/** Stores a batch as an owner does; returns its sequence. */
export const writeFacts = (broker: Broker, endpointId: EndpointId, facts: readonly LogFact[]): Promise<number> =>
  writeBatch(
    broker,
    logSubject(endpointId),
    new TextEncoder().encode(facts.map((fact) => encodeJson(fact)).join('\n')),
  );

/** Stores what has the headers of a batch, whatever it says. */
export const writeBatch = (broker: Broker, subject: string, facts: Uint8Array): Promise<number> =>
  writeRaw(broker, subject, {
    body: facts,
    headers: batchHeaders({ after: 0, batchId: systemRandom.id(12), index: QUIET, facts }),
  });

export async function writeRaw(
  broker: Broker,
  subject: string,
  { body, headers }: { readonly body: Uint8Array | string; readonly headers: Readonly<Record<string, string>> },
): Promise<number> {
  const answer = await broker.request(subject, body, headersOf(headers));
  return (JSON.parse(answer.string()) as { readonly seq: number }).seq;
}
