import type { JobKey, RawJson } from '@berth/domain';
import type { Chunk, Chunks } from '@berth/payloads';
import type { Broker } from '../broker/broker.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { publishMessage } from '../broker/publish-message.js';
import { readPage } from '../broker/read-message.js';
import { STREAMS, chunkSubject } from '../topology/subjects.js';

// An explicit BOM is content: a decoder that swallowed it would change a payload's bytes.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Subjects asked for at once: a page of the largest chunks stays below what the broker buffers for one client. */
const PAGE_MAX = 32;

/** Stream chunks, one message each, the body's JSON text as it came. */
export class JetStreamChunks implements Chunks {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /**
   * Written only where nothing is, so the first write of an index stays. A message id would do the same for two minutes
   * and cost memory for each.
   */
  async append(key: JobKey, { attempt, index, body }: Chunk, ttlMs: number): Promise<void> {
    const outcome = await publishMessage(this.#broker, {
      subject: chunkSubject(key, attempt, index),
      body,
      ttlMs,
      expectedSequence: 0,
    });
    if (outcome.kind === 'unknown') throw brokerUnavailable(outcome.cause);
  }

  async read(query: Parameters<Chunks['read']>[0]): Promise<readonly Chunk[]> {
    const chunks: Chunk[] = [];
    while (chunks.length < query.limit) {
      const wanted = Math.min(PAGE_MAX, query.limit - chunks.length);
      const fromIndex = query.fromIndex + chunks.length;
      const page = await this.#readPage({ ...query, fromIndex, limit: wanted });
      chunks.push(...page);
      if (page.length < wanted) break;
    }
    return chunks;
  }

  /** The broker answers in order of writing, which is not the order of index; a gap ends what may be told. */
  async #readPage(query: Parameters<Chunks['read']>[0]): Promise<readonly Chunk[]> {
    const { attempt, fromIndex, limit } = query;
    const subjects = Array.from({ length: limit }, (_, offset) => chunkSubject(query, attempt, fromIndex + offset));
    const { messages } = await readPage(this.#broker, STREAMS.chunks(query.jobId), { lastOf: subjects });
    const bodies = new Map(messages.map(({ subject, body }) => [subject, body]));
    const gap = subjects.findIndex((subject) => !bodies.has(subject));
    return subjects.slice(0, gap === -1 ? limit : gap).map((subject, offset) => ({
      attempt,
      index: fromIndex + offset,
      body: decoder.decode(bodies.get(subject) ?? new Uint8Array()) as RawJson,
    }));
  }
}
