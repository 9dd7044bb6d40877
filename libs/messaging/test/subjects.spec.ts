import type { EndpointId, JobId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { bucketKeyOf, bucketKeySubject, bucketStream } from '../src/topology/buckets.js';
import { isSubjectToken } from '../src/topology/subject-token.js';
import {
  STREAMS,
  blobFilter,
  blobPartSubject,
  chunkFilter,
  chunkSubject,
  logSubject,
  parseLogSubject,
  readerCursorSubject,
} from '../src/topology/subjects.js';

const KEY = { endpointId: 'ep-1' as EndpointId, jobId: 'job-1' as JobId };

describe('subjects', () => {
  test('each family has its form', () => {
    expect({
      readerCursor: readerCursorSubject({ ...KEY, keyId: 'key-1' }),
      chunk: chunkSubject(KEY, 2, 7),
      chunksOfAttempt: chunkFilter(KEY, 2),
      chunks: chunkFilter(KEY),
      blobPart: blobPartSubject(KEY, 'out-2', 3),
      blobs: blobFilter(KEY),
      log: logSubject(KEY.endpointId),
      bucketKey: bucketKeySubject('hosts', 'host-1'),
    }).toEqual({
      readerCursor: 'cur.3.ep-1.job-1.key-1',
      chunk: 'out.4.ep-1.job-1.2.7',
      chunksOfAttempt: 'out.4.ep-1.job-1.2.>',
      chunks: 'out.4.ep-1.job-1.>',
      blobPart: 'blob.4.ep-1.job-1.out-2.3',
      blobs: 'blob.4.ep-1.job-1.>',
      log: 'log.11.ep-1',
      bucketKey: '$KV.hosts.host-1',
    });
  });

  test('a stream is named by the family and the shard in its subjects', () => {
    const shardOf = (subject: string): string => subject.split('.')[1] ?? '';
    expect(STREAMS.chunks(KEY.jobId)).toBe(`OUT_${shardOf(chunkFilter(KEY))}`);
    expect(STREAMS.blobs(KEY.jobId)).toBe(`BLOB_${shardOf(blobFilter(KEY))}`);
    expect(bucketStream('hosts')).toBe('KV_hosts');
  });

  test('what was built reads back, and other subjects read as none', () => {
    expect(parseLogSubject(logSubject(KEY.endpointId))).toBe(KEY.endpointId);
    expect(parseLogSubject('log.1.ep-1')).toBeNull();
    expect(bucketKeyOf('hosts', bucketKeySubject('hosts', 'host-1'))).toBe('host-1');
  });

  test.each(['', 'a.b', '*', '>', 'a b', 'a\nb', 'ä', '../x', 'x'.repeat(129)])(
    'an id that would address something else is refused: %j',
    (text) => {
      expect(isSubjectToken(text)).toBe(false);
      expect(() => chunkSubject({ ...KEY, jobId: text as JobId }, 1, 0)).toThrow(RangeError);
      expect(() => logSubject(text as EndpointId)).toThrow(RangeError);
      expect(() => blobPartSubject(KEY, text, 0)).toThrow(RangeError);
      expect(() => bucketKeySubject('hosts', text)).toThrow(RangeError);
    },
  );
});
