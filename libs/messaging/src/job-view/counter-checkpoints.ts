import type { EndpointId } from '@berth/domain';
import type { Random } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { brokerUnavailable } from '../broker/broker-errors.js';
import { publishMessage, type Publication } from '../broker/publish-message.js';
import { readLatest } from '../broker/read-message.js';
import { purgeBefore } from '../broker/remove-messages.js';
import { JOB_SHARDS } from '../topology/shards.js';
import {
  CHECKPOINT_PARTS,
  CHECKPOINT_SUBJECT,
  STREAMS,
  checkpointPartSubject,
  recordStream,
} from '../topology/subjects.js';
import {
  decodeHead,
  decodePart,
  encodeHead,
  encodeParts,
  type CheckpointHead,
  type CounterCheckpoint,
  type JobCounters,
} from './checkpoint-codec.js';

export type { CounterCheckpoint, JobCounters } from './checkpoint-codec.js';

export interface CounterCheckpointsOptions {
  readonly broker: Broker;
  readonly random: Random;
}

interface StoredHead {
  /** 0: there is none. */
  readonly sequence: number;
  readonly head: CheckpointHead | null;
}

/** How often another may replace the checkpoint while it is read. */
const READS_MAX = 5;

/**
 * The one checkpoint of all routers. Its parts are written under a name of their own; then the head, by compare-and-set,
 * names them; then the parts before them are removed. So there is a whole one at every moment, whoever dies or writes
 * at the same time.
 */
export class CounterCheckpoints {
  readonly #broker: Broker;
  readonly #random: Random;
  /** Of the head that this process read or wrote last. */
  #headSequence = 0;

  constructor({ broker, random }: CounterCheckpointsOptions) {
    this.#broker = broker;
    this.#random = random;
  }

  /**
   * Null when there is none that is whole.
   *
   * @throws PlatformError `service-unavailable` when the broker does not answer
   */
  async read(): Promise<CounterCheckpoint | null> {
    let id: string | undefined;
    for (let round = 0; round < READS_MAX; round += 1) {
      const { head } = await this.#look();
      // The same head a second time, and still without all of its parts: they are lost.
      if (head === null || head.id === id) return null;
      id = head.id;
      const endpoints = await this.#readParts(head);
      if (endpoints !== null) return this.#inPresentStreams({ ...head, endpoints });
    }
    return null;
  }

  /** True when another router has written since this one read, wrote or asked last. */
  async hasOtherWritten(): Promise<boolean> {
    const before = this.#headSequence;
    return (await this.#look()).sequence !== before;
  }

  /**
   * Replaces what there is, unless that goes further in the events, or becomes something else meanwhile.
   *
   * @throws PlatformError `service-unavailable` when the broker does not answer or has no room
   */
  async write({ evSequence, recordSequences, endpoints }: CounterCheckpoint): Promise<void> {
    const { created, state } = await this.#broker.manager.streams.info(STREAMS.events);
    const present = await this.#look();
    const isOlder = present.head?.evCreated === created && present.head.evSequence >= evSequence;
    // An `EV` that ends earlier has lost its tail, or is another one.
    if (isOlder || state.last_seq < evSequence) return;
    const id = this.#random.uuid();
    const bodies = encodeParts(endpoints);
    let first: number | null = null;
    for (const [part, body] of bodies.entries()) {
      const sequence = await this.#publish({ subject: checkpointPartSubject(id, part), body });
      first ??= sequence;
    }
    const head = await this.#publish({
      subject: CHECKPOINT_SUBJECT,
      body: encodeHead({ id, parts: bodies.length, evSequence, evCreated: created, recordSequences }),
      expectedSequence: present.sequence,
    });
    // Another was faster, and removes ours with its next.
    if (head === null) return;
    this.#headSequence = head;
    await purgeBefore(this.#broker, STREAMS.checkpoints, { filter: CHECKPOINT_PARTS, sequence: first ?? head });
  }

  async #look(): Promise<StoredHead> {
    const message = await readLatest(this.#broker, STREAMS.checkpoints, CHECKPOINT_SUBJECT);
    this.#headSequence = message?.sequence ?? 0;
    const head = message === null ? null : decodeHead(message.body);
    if (message !== null && head === null) this.#note(CHECKPOINT_SUBJECT);
    return { sequence: this.#headSequence, head };
  }

  async #readParts({ id, parts }: CheckpointHead): Promise<ReadonlyMap<EndpointId, JobCounters> | null> {
    const endpoints = new Map<EndpointId, JobCounters>();
    for (let part = 0; part < parts; part += 1) {
      const message = await readLatest(this.#broker, STREAMS.checkpoints, checkpointPartSubject(id, part));
      if (message === null) return null;
      const rows = decodePart(message.body);
      if (rows === null) {
        this.#note(message.subject);
        return null;
      }
      for (const [endpointId, counters] of rows) endpoints.set(endpointId, counters);
    }
    return endpoints;
  }

  /** It is as good as none, and the next checkpoint takes its place. */
  #note(key: string): void {
    this.#broker.noteUnreadable({ place: 'checkpoints', key, reason: 'it is no checkpoint that this process knows' });
  }

  /** Numbers that a stream does not have yet are those of another one: what comes under them is not counted yet. */
  async #inPresentStreams({
    evSequence,
    evCreated,
    recordSequences,
    endpoints,
  }: CheckpointHead & Pick<CounterCheckpoint, 'endpoints'>): Promise<CounterCheckpoint> {
    const { streams } = this.#broker.manager;
    const ends = Array.from({ length: JOB_SHARDS }, async (_, shard) => {
      const { state } = await streams.info(recordStream(shard));
      return Math.min(state.last_seq, recordSequences[shard] ?? 0);
    });
    const { created, state } = await streams.info(STREAMS.events);
    const isSameStream = created === evCreated && evSequence <= state.last_seq;
    return { evSequence: isSameStream ? evSequence : 0, recordSequences: await Promise.all(ends), endpoints };
  }

  /** @returns null when another message is there */
  async #publish(publication: Publication): Promise<number | null> {
    const outcome = await publishMessage(this.#broker, publication);
    if (outcome.kind === 'unknown') throw brokerUnavailable(outcome.cause);
    return outcome.kind === 'stored' ? outcome.sequence : null;
  }
}
