import { BLOB_PART_BYTES, PlatformError, type JobKey } from '@berth/domain';
import {
  recallable,
  type Blobs,
  type Chunk,
  type Chunks,
  type Deliveries,
  type JobStore,
  type Leases,
  type JobRecords,
  type ReaderCursors,
  type Reservations,
  type Tickets,
  type WriteOutcome,
} from '@berth/jobs';
import { leaseName, manifestOf, recordName, type BrokerModel } from './broker-model.js';

/** Lets one atomic effect on the model happen: at once, or when a scheduler says so, or not at all. */
export interface Gate {
  read<T>(effect: () => T): Promise<T>;
  write<T>(effect: () => T): Promise<T>;
  /** A record write, whose answer may be lost. */
  writeRecord(effect: () => WriteOutcome): Promise<WriteOutcome>;
}

/** Everything happens at once and answers at once. */
export const openGate: Gate = {
  read: (effect) => Promise.resolve().then(effect),
  write: (effect) => Promise.resolve().then(effect),
  writeRecord: (effect) => Promise.resolve().then(effect),
};

/** The job store's ports over the in-memory model. */
export function modelStore(
  broker: BrokerModel,
  gate: Gate,
): Pick<JobStore, 'records' | 'tickets' | 'leases' | 'blobs' | 'chunks' | 'deliveries' | 'reservations'> {
  return {
    records: recallable(modelRecords(broker, gate)),
    tickets: modelTickets(broker, gate),
    leases: modelLeases(broker, gate),
    blobs: modelBlobs(broker, gate),
    chunks: modelChunks(broker, gate),
    deliveries: modelDeliveries(broker, gate),
    reservations: modelReservations(broker, gate),
  };
}

const modelDeliveries = ({ deliveries }: BrokerModel, gate: Gate): Deliveries => ({
  create: async (delivery, ttlMs) => {
    await gate.writeRecord(() => deliveries.write(delivery, 0, ttlMs));
  },
  read: (key) => gate.read(() => deliveries.read(key)),
  replace: (delivery, expected, ttlMs) => gate.writeRecord(() => deliveries.write(delivery, expected, ttlMs)),
  list: (key) => gate.read(() => deliveries.list(key)),
  fill: 0,
});

const modelRecords = (broker: BrokerModel, gate: Gate): JobRecords => ({
  read: (key) => gate.read(() => broker.readRecord(key)),
  create: (job, ttlMs) => gate.writeRecord(() => broker.createRecord(job, ttlMs)),
  replace: (job, expected, ttlMs) => gate.writeRecord(() => broker.replaceRecord(job, expected, ttlMs)),
});

const modelTickets = (broker: BrokerModel, gate: Gate): Tickets => ({
  put: (ticket, ttlMs) => gate.write(() => broker.putTicket(ticket, ttlMs)),
  list: (query) => gate.read(() => broker.listTickets(query)),
  lastSequence: () => gate.read(() => broker.lastSequence),
  remove: ({ ticket, sequence }) => gate.write(() => broker.removeTicket(ticket, sequence)),
  removeFor: (key, attempt) => gate.write(() => broker.removeTicket({ ...key, attempt })),
});

const modelLeases = (broker: BrokerModel, gate: Gate): Leases => ({
  read: (key) => gate.read(() => broker.readLease(key)),
  write: (key, lease, expected) => gate.write(() => broker.writeLease(key, lease, expected)),
  remove: (key) => gate.write(() => broker.removeLease(key)),
});

const modelReservations = (broker: BrokerModel, gate: Gate): Reservations => ({
  read: (key) => gate.read(() => broker.readReservation(key)),
  create: (key, reservation, ttlMs) =>
    gate.writeRecord(() => broker.writeReservation(key, { reservation, sequence: 0 }, ttlMs)),
  replace: (key, stored, ttlMs) => gate.writeRecord(() => broker.writeReservation(key, stored, ttlMs)),
});

const partName = (key: JobKey, name: string, part: number): string => `${recordName(key)}/${name}/${part}`;

const modelBlobs = (broker: BrokerModel, gate: Gate): Blobs => ({
  write: (key, { name, bytes }, ttlMs) =>
    gate.write(() => {
      const manifest = manifestOf(name, bytes, BLOB_PART_BYTES);
      for (let part = 0; part < manifest.parts; part += 1) {
        const from = part * BLOB_PART_BYTES;
        broker.writePart(partName(key, name, part), bytes.slice(from, from + BLOB_PART_BYTES), ttlMs);
      }
      return manifest;
    }),
  readPart: (key, name, part) => gate.read(() => broker.readPart(partName(key, name, part))),
  writePart: (key, { name, index, bytes }, ttlMs) =>
    gate.write(() => broker.writePart(partName(key, name, index), bytes, ttlMs)),
  read: (key, manifest) =>
    gate.read(() => {
      const parts = Array.from({ length: manifest.parts }, (_, part) =>
        broker.readPart(partName(key, manifest.name, part)),
      );
      if (parts.some((part) => part === null)) return null;
      const bytes = Buffer.concat(parts.filter((part) => part !== null));
      const isWhole = manifestOf(manifest.name, bytes, BLOB_PART_BYTES).sha256 === manifest.sha256;
      if (!isWhole) throw new PlatformError('internal-error', `The parts of ${manifest.name} do not match their hash.`);
      return bytes;
    }),
  remove: (key, name) => gate.write(() => broker.removeAttachments(`${recordName(key)}/${name}`)),
  removeAll: (key) => gate.write(() => broker.removeAttachments(recordName(key))),
});

const modelChunks = (broker: BrokerModel, gate: Gate): Chunks => ({
  append: (key, chunk, ttlMs) => gate.write(() => broker.appendChunk(key, chunk, ttlMs)),
  read: (query) =>
    gate.read(() => {
      const found: Chunk[] = [];
      for (let index = query.fromIndex; found.length < query.limit; index += 1) {
        const chunk = broker.readChunk(query, index);
        if (chunk === null) break;
        found.push(chunk);
      }
      return found;
    }),
  removeAttempt: (key, attempt) => gate.write(() => broker.removeAttachments(leaseName({ ...key, attempt }))),
  removeAll: (key) => gate.write(() => broker.removeAttachments(recordName(key))),
});

export const modelReaderCursors = (broker: BrokerModel, gate: Gate): ReaderCursors => ({
  read: (reader) => gate.read(() => broker.readReaderCursor(reader)),
  write: (reader, cursor, expected) => gate.write(() => broker.writeReaderCursor(reader, cursor, expected)),
});
