import { BLOB_PART_BYTES, CHUNK_MAX_BYTES, INLINE_OUTPUT_MAX_BYTES, PlatformError } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { requireRead, type Reading } from '@berth/domain/shape';
import type { AttemptEnd } from './job-messages.js';
import {
  AGENT_ERROR_MAX_CHARACTERS,
  readChunkRequest,
  readDoneRequest,
  readEnd,
  readProgressRequest,
  readRenewRequest,
  readTakeRequest,
  readUploadRequest,
  readWithdrawMessage,
} from './read-job-request.js';

const read = <Message>(reading: Reading<Message>): Message => requireRead(reading);

const WISH = { takeId: 't-1', endpointId: 'ep', workerId: 'w', slots: 2, waitMs: 9 };
const take = (more: object): unknown => read(readTakeRequest({ wishes: [WISH, { ...WISH, ...more }] }));
const REF = { endpointId: 'ep', jobId: 'job', attempt: 1, token: 't' };
const parseOne = (end: unknown): AttemptEnd => read(readEnd(end));
const done = (result: unknown): unknown => ({ ...REF, chunks: 0, result });
const lost = (logTail: unknown): unknown => done({ kind: 'lost', reason: 'r', isCharged: true, logTail });
const manifest = { name: 'out1', parts: 2, sizeBytes: 600_000, sha256: 'ab' };

describe('what an agent sends', () => {
  test('is passed on with what is known of it and nothing else', () => {
    const { extra: _, ...known } = { ...WISH, extra: 1 };
    expect(read(readTakeRequest({ wishes: [{ ...WISH, extra: 1 }], extra: 1 }))).toEqual({ wishes: [known] });
    expect(read(readWithdrawMessage({ endpointId: 'ep', workerId: 'w', extra: 1 }))).toEqual({
      endpointId: 'ep',
      workerId: 'w',
    });
    expect(read(readRenewRequest({ leases: [{ ...REF, extra: 1 }] }))).toEqual({ leases: [REF] });
  });

  test.each([
    ['a completed job', { kind: 'completed', output: null }],
    ['an output in the message', { kind: 'completed', output: { kind: 'inline', json: '{"a":1.0}' } }],
    ['an output in parts', { kind: 'completed', output: { kind: 'blob', manifest } }],
    ['a failed job', { kind: 'failed', error: 'e', output: null }],
    ['a job that ran out of time', { kind: 'timed-out' }],
    ['a lost attempt', { kind: 'lost', reason: 'r', isCharged: true, logTail: ['one', 'two'] }],
    ['an attempt that was let go', { kind: 'stopped', agoMs: 250, logTail: ['one', 'two'] }],
  ])('%s is understood', (_, result) => {
    expect(parseOne(done(result)).result).toEqual(result);
  });

  test('a long error keeps its beginning and its end', () => {
    const { result } = parseOne(
      done({ kind: 'failed', error: `first${'x'.repeat(2 * AGENT_ERROR_MAX_CHARACTERS)}last`, output: null }),
    );
    const error = result.kind === 'failed' ? result.error : '';
    expect(error).toMatch(/^firstx+\n… \d+ characters left out …\nx+last$/);
    expect(error.length).toBeLessThan(AGENT_ERROR_MAX_CHARACTERS + 100);
  });

  test.each([
    ['a stop in the future', () => parseOne(done({ kind: 'stopped', agoMs: -1 }))],
    ['too many log lines', () => parseOne(lost(Array.from({ length: 21 }, () => 'x')))],
    ['a log line that is too long', () => parseOne(lost(['x'.repeat(501)]))],
    ['a log line that is no text', () => parseOne(lost([1]))],
    ['a log that is no list', () => parseOne(lost('x'))],
    ['nothing', () => read(readTakeRequest(null))],
    ['a list', () => read(readTakeRequest([]))],
    ['an id that could be two subject tokens', () => take({ endpointId: 'a.b' })],
    ['a name of a wish that could be two', () => take({ takeId: 'a.b' })],
    ['too many slots', () => take({ slots: 65 })],
    ['too many wishes', () => read(readTakeRequest({ wishes: Array.from({ length: 257 }, () => WISH) }))],
    ['no wish', () => read(readTakeRequest({ wishes: [] }))],
    ['no end', () => read(readDoneRequest({ ends: [] }))],
    [
      'too many ends',
      () => read(readDoneRequest({ ends: Array.from({ length: 65 }, () => done({ kind: 'timed-out' })) })),
    ],
    ['too many leases', () => read(readRenewRequest({ leases: Array.from({ length: 4_097 }, () => REF) }))],
    ['a lease without its token', () => read(readRenewRequest({ leases: [{ ...REF, token: undefined }] }))],
    ['a chunk that is no JSON', () => read(readChunkRequest({ ...REF, index: 0, body: '{' }))],
    [
      'a chunk above its limit',
      () => read(readChunkRequest({ ...REF, index: 0, body: `"${'x'.repeat(CHUNK_MAX_BYTES)}"` })),
    ],
    ['progress in parts', () => read(readProgressRequest({ ...REF, output: { kind: 'blob', manifest } }))],
    [
      'a part above its limit',
      () => read(readUploadRequest({ ...REF, part: 0, base64: 'x'.repeat(2 * BLOB_PART_BYTES) })),
    ],
    [
      'an output above its limit',
      () =>
        parseOne(
          done({ kind: 'completed', output: { kind: 'inline', json: `"${'x'.repeat(INLINE_OUTPUT_MAX_BYTES)}"` } }),
        ),
    ],
    ['an output that is no JSON', () => parseOne(done({ kind: 'completed', output: { kind: 'inline', json: 'x' } }))],
    ['a result of no known kind', () => parseOne(done({ kind: 'great' }))],
    [
      'a manifest with too many parts',
      () => parseOne(done({ kind: 'completed', output: { kind: 'blob', manifest: { ...manifest, parts: 1_000 } } })),
    ],
    ['a loss that says not whose fault it was', () => parseOne(done({ kind: 'lost', reason: 'r' }))],
  ])('%s is refused', (_, parse) => {
    expect(parse).toThrow(PlatformError);
  });
});
