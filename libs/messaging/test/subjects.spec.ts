import type { EndpointId, JobId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { bucketKeyOf, bucketKeySubject, bucketStream } from '../src/topology/buckets.js';
import { isSubjectToken } from '../src/topology/subject-token.js';
import {
  CHECKPOINT_PARTS,
  CHECKPOINT_SUBJECT,
  STREAMS,
  blobFilter,
  blobPartSubject,
  checkpointPartSubject,
  chunkFilter,
  chunkSubject,
  deliveryFilter,
  deliverySubject,
  leaseSubject,
  parseDeliverySubject,
  parseLeaseSubject,
  parseRecordSubject,
  parseTicketSubject,
  readerCursorSubject,
  reservationSubject,
  recordNoticeSubject,
  recordSubject,
  ticketFilter,
  ticketNoticeFilter,
  ticketSubject,
} from '../src/topology/subjects.js';

const KEY = { endpointId: 'ep-1' as EndpointId, jobId: 'job-1' as JobId };
const ATTEMPT = { ...KEY, attempt: 2 };

describe('subjects', () => {
  test('each family has its form', () => {
    expect({
      record: recordSubject(KEY),
      recordNotice: recordNoticeSubject(KEY),
      ticket: ticketSubject(ATTEMPT, 'l'),
      tickets: ticketFilter(KEY.endpointId, 'n'),
      doorbell: ticketNoticeFilter(KEY.endpointId),
      lease: leaseSubject(ATTEMPT),
      readerCursor: readerCursorSubject({ ...KEY, keyId: 'key-1' }),
      reservation: reservationSubject({ endpointId: KEY.endpointId, name: 'abc' }),
      chunk: chunkSubject(KEY, 2, 7),
      chunksOfAttempt: chunkFilter(KEY, 2),
      chunks: chunkFilter(KEY),
      blobPart: blobPartSubject(KEY, 'out-2', 3),
      blobs: blobFilter(KEY),
      delivery: deliverySubject(ATTEMPT),
      deliveries: deliveryFilter(KEY),
      checkpoint: CHECKPOINT_SUBJECT,
      checkpointPart: checkpointPartSubject('id-1', 2),
      checkpointParts: CHECKPOINT_PARTS,
      bucketKey: bucketKeySubject('hosts', 'host-1'),
    }).toEqual({
      record: 'job.4.ep-1.job-1',
      recordNotice: 'jobn.4.ep-1.job-1',
      ticket: 'q.3.ep-1.l.job-1.2',
      tickets: 'q.3.ep-1.n.>',
      doorbell: 'qn.3.ep-1.>',
      lease: 'lease.3.ep-1.job-1.2',
      readerCursor: 'cur.3.ep-1.job-1.key-1',
      reservation: 'idem.12.ep-1.abc',
      chunk: 'out.4.ep-1.job-1.2.7',
      chunksOfAttempt: 'out.4.ep-1.job-1.2.>',
      chunks: 'out.4.ep-1.job-1.>',
      blobPart: 'blob.4.ep-1.job-1.out-2.3',
      blobs: 'blob.4.ep-1.job-1.>',
      delivery: 'hook.0.ep-1.job-1.2',
      deliveries: 'hook.0.ep-1.job-1.*',
      checkpoint: 'check.head',
      checkpointPart: 'check.part.id-1.2',
      checkpointParts: 'check.part.>',
      bucketKey: '$KV.hosts.host-1',
    });
  });

  test('a stream is named by the family and the shard in its subjects', () => {
    const shardOf = (subject: string): string => subject.split('.')[1] ?? '';
    expect(STREAMS.records(KEY.jobId)).toBe(`JOBS_${shardOf(recordSubject(KEY))}`);
    expect(STREAMS.chunks(KEY.jobId)).toBe(`OUT_${shardOf(chunkFilter(KEY))}`);
    expect(STREAMS.blobs(KEY.jobId)).toBe(`BLOB_${shardOf(blobFilter(KEY))}`);
    expect(STREAMS.tickets(KEY.endpointId)).toBe(`QUEUE_${shardOf(ticketFilter(KEY.endpointId, 'n'))}`);
    expect(STREAMS.deliveries(KEY.jobId)).toBe(`WEBHOOKS_${shardOf(deliverySubject(ATTEMPT))}`);
    expect(STREAMS.leases(KEY.endpointId)).toBe(`LEASE_${shardOf(leaseSubject(ATTEMPT))}`);
    expect(bucketStream('hosts')).toBe('KV_hosts');
  });

  test('what was built reads back', () => {
    expect(parseRecordSubject(recordSubject(KEY))).toEqual(KEY);
    expect(parseTicketSubject(ticketSubject(ATTEMPT, 'l'))).toEqual({ ...ATTEMPT, isLowPriority: true });
    expect(parseTicketSubject(ticketSubject(ATTEMPT, 'n'))).toEqual({ ...ATTEMPT, isLowPriority: false });
    expect(parseLeaseSubject(leaseSubject(ATTEMPT))).toEqual(ATTEMPT);
    expect(parseDeliverySubject(deliverySubject(ATTEMPT))).toEqual(ATTEMPT);
    expect(bucketKeyOf('hosts', bucketKeySubject('hosts', 'host-1'))).toBe('host-1');
  });

  test('other subjects read as none', () => {
    expect(parseRecordSubject(leaseSubject(ATTEMPT))).toBeNull();
    expect(parseRecordSubject('job.1.ep')).toBeNull();
    expect(parseTicketSubject('q.1.ep.n.job')).toBeNull();
    expect(parseLeaseSubject('lease.1.ep.job.1.more')).toBeNull();
    expect(parseDeliverySubject('hook.1.ep.job')).toBeNull();
  });

  test.each(['', 'a.b', '*', '>', 'a b', 'a\nb', 'ä', '../x', 'x'.repeat(129)])(
    'an id that would address something else is refused: %j',
    (text) => {
      expect(isSubjectToken(text)).toBe(false);
      expect(() => recordSubject({ ...KEY, jobId: text as JobId })).toThrow(RangeError);
      expect(() => leaseSubject({ ...ATTEMPT, endpointId: text as EndpointId })).toThrow(RangeError);
      expect(() => blobPartSubject(KEY, text, 0)).toThrow(RangeError);
      expect(() => bucketKeySubject('hosts', text)).toThrow(RangeError);
    },
  );
});
