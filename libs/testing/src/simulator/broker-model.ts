import { createHash } from 'node:crypto';
import type { BlobManifest, EndpointId, Job, JobKey } from '@berth/domain';
import {
  LEASE_MS,
  READER_CURSOR_MS,
  type Chunk,
  type KeptCursor,
  type Lease,
  type LeaseKey,
  type LeaseState,
  type QueuedTicket,
  type Reservation,
  type ReservationKey,
  type ReaderKey,
  type StoredJob,
  type StoredReservation,
  type StreamCursor,
  type Ticket,
  type WriteOutcome,
} from '@berth/jobs';
import { DeliveryModel } from './delivery-model.js';

/** One write of a record, as the store saw it: the material of the record checks. */
export interface RecordVersion {
  readonly sequence: number;
  readonly atMs: number;
  readonly job: Job;
}

interface Expiring<T> {
  readonly value: T;
  readonly sequence: number;
  readonly expiresAtMs: number;
}

const LEASE_MARKER_MS = 600_000;
const RECORD_MARKER_MS = 60_000;

export const recordName = (key: JobKey): string => `${key.endpointId}/${key.jobId}`;
export const leaseName = (key: LeaseKey): string => `${recordName(key)}/${key.attempt}`;
const ticketName = (ticket: Pick<Ticket, 'endpointId' | 'jobId' | 'attempt'>): string => leaseName(ticket);

/**
 * What the broker promises to the job store, in memory: one version per subject, compare-and-set, expiry with markers,
 * discard-new tickets, leases that vanish with a restart. Every method is one atomic step. The conformance suites hold
 * it to what a real server does.
 */
export class BrokerModel {
  readonly versions: RecordVersion[] = [];
  readonly deliveries: DeliveryModel;
  readonly #records = new Map<string, Expiring<Job>>();
  readonly #tickets = new Map<string, Expiring<Ticket>>();
  readonly #leases = new Map<string, Expiring<Lease>>();
  readonly #reservations = new Map<string, Expiring<Reservation>>();
  readonly #blobs = new Map<string, Expiring<Uint8Array>>();
  readonly #chunks = new Map<string, Expiring<Chunk>>();
  readonly #readerCursors = new Map<string, Expiring<StreamCursor>>();
  readonly #now: () => number;
  #sequence = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.deliveries = new DeliveryModel(now);
  }

  readRecord(key: JobKey): StoredJob | null {
    const record = this.#records.get(recordName(key));
    if (record === undefined || this.#now() >= record.expiresAtMs) return null;
    return { job: record.value, sequence: record.sequence };
  }

  createRecord(job: Job, ttlMs: number): WriteOutcome {
    const record = this.#records.get(nameOf(job));
    if (record !== undefined && this.#now() < record.expiresAtMs + RECORD_MARKER_MS) return { kind: 'conflict' };
    return this.#writeRecord(job, ttlMs);
  }

  replaceRecord(job: Job, expectedSequence: number, ttlMs: number): WriteOutcome {
    const record = this.#records.get(nameOf(job));
    const isThere = record !== undefined && this.#now() < record.expiresAtMs;
    if (!isThere || record.sequence !== expectedSequence) return { kind: 'conflict' };
    return this.#writeRecord(job, ttlMs);
  }

  /** Every record that is there now. */
  liveRecords(): readonly StoredJob[] {
    const live = [...this.#records.values()].filter((record) => this.#now() < record.expiresAtMs);
    return live.map(({ value, sequence }) => ({ job: value, sequence }));
  }

  putTicket(ticket: Ticket, ttlMs: number): void {
    const name = ticketName(ticket);
    const there = this.#tickets.get(name);
    if (there !== undefined && this.#now() < there.expiresAtMs) return;
    this.#tickets.set(name, this.#expiring(ticket, ttlMs));
  }

  listTickets(query: {
    readonly endpointId: EndpointId;
    readonly isLowPriority: boolean;
    readonly afterSequence: number;
    readonly limit: number;
  }): readonly QueuedTicket[] {
    return [...this.#tickets.values()]
      .filter(({ value, expiresAtMs }) => this.#now() < expiresAtMs && value.endpointId === query.endpointId)
      .filter(({ value, sequence }) => value.isLowPriority === query.isLowPriority && sequence > query.afterSequence)
      .sort((a, b) => a.sequence - b.sequence)
      .slice(0, query.limit)
      .map(({ value, sequence }) => ({ ticket: value, sequence }));
  }

  get lastSequence(): number {
    return this.#sequence;
  }

  hasTicket(key: LeaseKey): boolean {
    return this.#tickets.has(leaseName(key));
  }

  removeTicket(ticket: Pick<Ticket, 'endpointId' | 'jobId' | 'attempt'>, sequence?: number): void {
    const there = this.#tickets.get(ticketName(ticket));
    if (sequence === undefined || there?.sequence === sequence) this.#tickets.delete(ticketName(ticket));
  }

  readLease(key: LeaseKey): LeaseState {
    const lease = this.#leases.get(leaseName(key));
    if (lease === undefined || this.#now() >= lease.expiresAtMs + LEASE_MARKER_MS) return { kind: 'missing' };
    if (this.#now() >= lease.expiresAtMs) return { kind: 'expired', sequence: lease.sequence };
    return { kind: 'live', lease: lease.value, sequence: lease.sequence };
  }

  writeLease(key: LeaseKey, lease: Lease, expectedSequence: number): number | null {
    const state = this.readLease(key);
    const present = state.kind === 'missing' ? 0 : state.sequence;
    if (present !== expectedSequence) return null;
    const written = this.#expiring(lease, LEASE_MS);
    this.#leases.set(leaseName(key), written);
    return written.sequence;
  }

  removeLease(key: LeaseKey): void {
    this.#leases.delete(leaseName(key));
  }

  readReaderCursor(reader: ReaderKey): KeptCursor | null {
    const kept = this.#readerCursors.get(readerName(reader));
    return kept === undefined || this.#now() >= kept.expiresAtMs
      ? null
      : { cursor: kept.value, sequence: kept.sequence };
  }

  writeReaderCursor(reader: ReaderKey, cursor: StreamCursor, expectedSequence: number): number | null {
    if ((this.readReaderCursor(reader)?.sequence ?? 0) !== expectedSequence) return null;
    const written = this.#expiring(cursor, READER_CURSOR_MS);
    this.#readerCursors.set(readerName(reader), written);
    return written.sequence;
  }

  /** A restart: leases and cursors lie in memory and are gone without a marker; the tail of the tickets may be lost too. */
  restart(lostTickets: (tickets: readonly Ticket[]) => readonly Ticket[]): void {
    this.#leases.clear();
    this.#readerCursors.clear();
    for (const ticket of lostTickets([...this.#tickets.values()].map(({ value }) => value))) this.removeTicket(ticket);
  }

  readReservation(key: ReservationKey): StoredReservation | null {
    const there = this.#reservations.get(reservationName(key));
    if (there === undefined || this.#now() >= there.expiresAtMs) return null;
    return { reservation: there.value, sequence: there.sequence };
  }

  /** No marker stays behind, so a key whose time is over is free at once. */
  writeReservation(key: ReservationKey, { reservation, sequence }: StoredReservation, ttlMs: number): WriteOutcome {
    if ((this.readReservation(key)?.sequence ?? 0) !== sequence) return { kind: 'conflict' };
    const written = this.#expiring(reservation, ttlMs);
    this.#reservations.set(reservationName(key), written);
    return { kind: 'written', sequence: written.sequence };
  }

  writePart(name: string, bytes: Uint8Array, ttlMs: number): void {
    this.#blobs.set(name, this.#expiring(bytes, ttlMs));
  }

  readPart(name: string): Uint8Array | null {
    const part = this.#blobs.get(name);
    return part === undefined || this.#now() >= part.expiresAtMs ? null : part.value;
  }

  appendChunk(key: JobKey, chunk: Chunk, ttlMs: number): void {
    const name = `${leaseName({ ...key, attempt: chunk.attempt })}/${chunk.index}`;
    if (!this.#chunks.has(name)) this.#chunks.set(name, this.#expiring(chunk, ttlMs));
  }

  readChunk(key: LeaseKey, index: number): Chunk | null {
    const chunk = this.#chunks.get(`${leaseName(key)}/${index}`);
    return chunk === undefined || this.#now() >= chunk.expiresAtMs ? null : chunk.value;
  }

  removeAttachments(prefix: string): void {
    for (const store of [this.#blobs, this.#chunks]) {
      for (const name of [...store.keys()]) if (name.startsWith(`${prefix}/`)) store.delete(name);
    }
  }

  #writeRecord(job: Job, ttlMs: number): WriteOutcome {
    const record = this.#expiring(job, ttlMs);
    this.#records.set(nameOf(job), record);
    this.versions.push({ sequence: record.sequence, atMs: this.#now(), job });
    return { kind: 'written', sequence: record.sequence };
  }

  #expiring<T>(value: T, ttlMs: number): Expiring<T> {
    this.#sequence += 1;
    return { value, sequence: this.#sequence, expiresAtMs: this.#now() + ttlMs };
  }
}

const readerName = (reader: ReaderKey): string => `${recordName(reader)}/${reader.keyId}`;

const reservationName = ({ endpointId, name }: ReservationKey): string => `${endpointId}/${name}`;

const nameOf = (job: Job): string => recordName({ endpointId: job.endpointId, jobId: job.id });

export const manifestOf = (name: string, bytes: Uint8Array, partBytes: number): BlobManifest => ({
  name,
  parts: Math.max(1, Math.ceil(bytes.byteLength / partBytes)),
  sizeBytes: bytes.byteLength,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});
