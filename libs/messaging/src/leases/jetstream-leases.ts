import { LEASE_MS, type Lease, type LeaseKey, type LeaseState, type Leases } from '@berth/jobs';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, BrokerApiError } from '../broker/broker-errors.js';
import { publishMessage } from '../broker/publish-message.js';
import { readLatest } from '../broker/read-message.js';
import { purgeSubject } from '../broker/remove-messages.js';
import { STREAMS, leaseSubject } from '../topology/subjects.js';
import { encodeLease, readLease } from './lease-codec.js';

/** Leases as messages that expire, in memory: the broker itself says when one has run out. */
export class JetStreamLeases implements Leases {
  readonly #broker: Broker;
  readonly #leaseMs: number;

  /** @param leaseMs life of a lease; shorter only where a test waits for its end */
  constructor(broker: Broker, leaseMs = LEASE_MS) {
    this.#broker = broker;
    this.#leaseMs = leaseMs;
  }

  async read(key: LeaseKey): Promise<LeaseState> {
    const message = await unlessForgotten(readLatest(this.#broker, STREAMS.leases(key.endpointId), leaseSubject(key)));
    if (message === null) return { kind: 'missing' };
    const { sequence } = message;
    if (message.isMarker) return { kind: 'expired', sequence };
    const reading = readLease(message.body);
    if (reading.kind === 'value') return { kind: 'live', lease: reading.value, sequence };
    // It holds the attempt for nobody. Whoever owns the job writes over it, or the reaper takes the attempt.
    this.#broker.noteUnreadable({ place: 'leases', key: message.subject, reason: reading.reason });
    return { kind: 'expired', sequence };
  }

  async write(key: LeaseKey, lease: Lease, expectedSequence: number): Promise<number | null> {
    const outcome = await publishMessage(this.#broker, {
      subject: leaseSubject(key),
      body: encodeLease(lease),
      ttlMs: this.#leaseMs,
      expectedSequence,
    });
    return outcome.kind === 'stored' ? outcome.sequence : null;
  }

  /** By purge: a deletion by sequence would need to know it, and a message that says "released" would leave a marker. */
  async remove(key: LeaseKey): Promise<void> {
    await unlessForgotten(purgeSubject(this.#broker, STREAMS.leases(key.endpointId), leaseSubject(key)));
  }
}

/** A broker that restarts alone has no stream in memory until it is made again: nothing is there, as in a new one. */
async function unlessForgotten<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof BrokerApiError && error.code === API_ERROR.streamNotFound) return null;
    throw error;
  }
}
