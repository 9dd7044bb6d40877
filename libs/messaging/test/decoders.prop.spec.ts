import {
  apiKeySnapshotShape,
  assignmentSnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  webhookSecretsSnapshotShape,
  type Reading,
} from '@berth/contracts';
import { freshKey, sampleJob } from '@berth/testing';
import { headers } from '@nats-io/transport-node';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readDelivery } from '../src/deliveries/delivery-codec.js';
import { readDeliverySighting } from '../src/deliveries/delivery-headers.js';
import { readReservation } from '../src/idempotency/reservation-codec.js';
import { encodeJobRecord, readJobRecord } from '../src/job-records/job-record-codec.js';
import { decodeHead, decodePart } from '../src/job-view/checkpoint-codec.js';
import { readJobEvent } from '../src/job-view/job-event.js';
import { readLease } from '../src/leases/lease-codec.js';
import { readReaderCursor } from '../src/reader-cursors/reader-cursor-codec.js';
import { decodeSnapshot, snapshotCodec } from '../src/snapshots/snapshot-codec.js';
import { readTicket } from '../src/tickets/ticket-codec.js';
import {
  parseAttachmentSubject,
  parseDeliverySubject,
  parseLeaseSubject,
  parseRecordSubject,
  parseTicketSubject,
} from '../src/topology/subjects.js';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const SNAPSHOTS = [
  snapshotCodec(endpointSnapshotShape),
  snapshotCodec(apiKeySnapshotShape),
  snapshotCodec(hostSnapshotShape),
  snapshotCodec(assignmentSnapshotShape),
  snapshotCodec(webhookSecretsSnapshotShape),
];

/** Everything that turns a body into a value, under one signature. */
const DECODERS: Readonly<Record<string, (body: Uint8Array, key: string) => readonly Reading<unknown>[]>> = {
  snapshot: (body, key) => SNAPSHOTS.map((codec) => decodeSnapshot<unknown>(codec as never, key, body)),
  'job record': (body) => [readJobRecord(body)],
  delivery: (body) => [readDelivery(body)],
  reservation: (body) => [readReservation(body)],
  lease: (body) => [readLease(body)],
  'reader cursor': (body) => [readReaderCursor(body)],
  ticket: (body, key) => [readTicket({ subject: `q.0.e.n.${key}.1`, sequence: 1, isMarker: false, body })],
};

const json = fc.jsonValue().map((value) => JSON.stringify(value));
const enveloped = fc.jsonValue().map((value) => JSON.stringify({ v: 1, value, ...(value as object) }));
const bodies: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  json.map(bytesOf),
  enveloped.map(bytesOf),
  fc.tuple(json, json).map(([first, second]) => bytesOf(`${first}\n${second}`)),
);
const keys = fc.oneof(fc.string(), fc.stringMatching(/^[a-z]{1,8}$/));

describe('whatever somebody wrote', () => {
  test.each(Object.entries(DECODERS))('is a value of its kind or has a reason: %s', (_, decode) => {
    fc.assert(
      fc.property(bodies, keys, (body, key) => {
        for (const reading of decode(body, key)) {
          if (reading.kind === 'value') expect(reading.value).toBeInstanceOf(Object);
          else expect(reading.reason).not.toBe('');
        }
      }),
    );
  });

  test('is a checkpoint or none', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(() => [decodeHead(body), decodePart(body)]).not.toThrow();
      }),
    );
  });

  test('is as a subject an address whose ids can be subjects again, or none', () => {
    const tokens = fc.array(fc.oneof(fc.constantFrom('job', 'q', 'hook', 'lease', '0', 'n', '1', ''), fc.string()), {
      maxLength: 8,
    });
    const parsers = [
      parseRecordSubject,
      parseTicketSubject,
      parseDeliverySubject,
      parseLeaseSubject,
      parseAttachmentSubject,
    ];
    fc.assert(
      fc.property(tokens, (parts) => {
        for (const parse of parsers) {
          const key = parse(parts.join('.'));
          if (key !== null) expect(`${key.endpointId} ${key.jobId}`).toMatch(/^[\w-]{1,128} [\w-]{1,128}$/);
        }
      }),
    );
  });

  test('is by its headers a version of a job whose numbers are numbers, or none', () => {
    const names = [
      'Berth-State',
      'Berth-Attempt',
      'Berth-Charged',
      'Berth-Queued-At',
      'Berth-Expires-At',
      'Berth-Started-At',
      'Berth-Milestones',
      'Berth-Due-At',
    ];
    const value = fc.oneof(
      fc.constantFrom('IN_QUEUE', 'FAILED', '', 'NaN', 'Infinity', '-1', '1e400', ':', '1:FAILED:1', '1700000000000'),
      fc.stringMatching(/^[\x21-\x7e]{0,12}$/),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (values) => {
        const made = headers();
        for (const [name, text] of Object.entries(values)) made.set(name, text);
        const message = { sequence: 1, headers: made, body: new Uint8Array() };
        const event = readJobEvent({ ...message, subject: 'job.0.e.j' }, 'records');
        if (event !== null && event.state !== 'removed') {
          for (const number of [event.attempt, event.charged, event.queuedAtMs, event.expiresAtMs]) {
            expect(Number.isFinite(number)).toBe(true);
          }
        }
        const delivery = readDeliverySighting({ ...message, subject: 'hook.0.e.j.1' });
        if (delivery?.kind === 'pending') expect(Number.isFinite(delivery.pending.dueAtMs)).toBe(true);
      }),
    );
  });
});

describe('a record', () => {
  const sound = JSON.parse(encodeJobRecord(sampleJob(freshKey()))) as Record<string, unknown>;

  test('that was written here is read', () => {
    expect(readJobRecord(JSON.stringify(sound)).kind).toBe('value');
  });

  test('of which any one member was made something else is read as it is, or not at all', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(sound)), fc.jsonValue(), (name, value) => {
        const reading = readJobRecord(JSON.stringify({ ...sound, [name]: value }));
        if (reading.kind === 'value') return;
        // The reason names the member, and tells nothing of what stood there.
        expect(reading.reason).toMatch(new RegExp(`${name}|version|no job record`));
      }),
    );
  });

  test('whose manifest names more parts than its size is made of asks no reader for them', () => {
    const manifest = { name: 'in', parts: 1_000_000_000, sizeBytes: 10, sha256: '0' };
    const reading = readJobRecord(JSON.stringify({ ...sound, input: { kind: 'blob', manifest } }));
    expect(reading).toEqual({ kind: 'unreadable', reason: '$.input.manifest.parts does not fit the size' });
  });
});
