import { INLINE_INPUT_MAX_BYTES, type JobId, type RawJson } from '@berth/domain';
import { encodeOwnerQuestion } from '@berth/messaging';
import { ManualClock } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ENDPOINT, requestOf, submissionOf } from '../../test/fixtures/edge-scene.js';
import { KeptBlobs } from '../../test/fixtures/kept-blobs.js';
import type { Submission } from './jobs.port.js';
import { JobWishes } from './job-wishes.js';
import { pieceFrom, sentBytesMax, type NamedSubmission } from './submit-pieces.js';

/** A broker takes a message of so many bytes where nobody has set another bound. */
const MESSAGE_MAX_BYTES = 1024 ** 2;

const idOf = (item: number): JobId => `job-${item}` as JobId;

const wishes = (): JobWishes =>
  new JobWishes({ blobs: new KeptBlobs(), clock: new ManualClock(), logger: {} as never });

async function bytesSent(piece: readonly NamedSubmission[]): Promise<number> {
  const jobs = await wishes().make({ endpoint: ENDPOINT, origin: 'run' }, piece);
  return Buffer.byteLength(encodeOwnerQuestion({ endpointId: ENDPOINT.id, question: { command: { jobs } } }));
}

/** What takes the most room: quotes and escapes, letters of several bytes, halves of pairs. */
const evil = fc.string({
  unit: fc.constantFrom('"', '\\', '\n', '\u0001', 'é', '中', '😀', '\ud800', 'x'),
  maxLength: 300,
});
const json = fc
  .tuple(evil, fc.constantFrom(1, 50, 2_000))
  .map(([text, times]) => JSON.stringify({ text: text.repeat(times) }) as RawJson);
const submission: fc.Arbitrary<Submission> = fc
  .record({
    input: json,
    extras: evil.map((text) => JSON.stringify({ text }) as RawJson),
    sealedExtras: fc.option(evil),
    webhook: fc.option(fc.webUrl()),
    traceparent: fc.option(fc.constant('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01')),
  })
  .map((texts) => ({ ...submissionOf(0), ...texts }));

describe('a list of jobs', () => {
  test('never takes more bytes as a command than its pieces were made for', async () => {
    await fc.assert(
      fc.asyncProperty(submission, async (one) => {
        const [alone, twice] = [await bytesSent(piece(one)), await bytesSent([...piece(one), ...piece(one)])];
        expect(twice - alone).toBeLessThanOrEqual(sentBytesMax(one));
      }),
      { numRuns: 200 },
    );
  });

  test('goes in pieces that each fit a message, with every job once and in order', async () => {
    const sizes = fc.array(fc.constantFrom(40, 1_000, 30_000, INLINE_INPUT_MAX_BYTES, 100_000), {
      minLength: 1,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(sizes, async (bytes) => {
        const request = requestOf(bytes.length, { bytes: (item) => bytes[item] as number });
        const seen: JobId[] = [];
        while (seen.length < bytes.length) {
          const next = pieceFrom(request, seen.length, idOf);
          expect(next.length).toBeGreaterThan(0);
          expect(await bytesSent(next)).toBeLessThan(MESSAGE_MAX_BYTES);
          seen.push(...next.map(({ id }) => id));
        }
        expect(seen).toEqual(bytes.map((_, item) => idOf(item)));
      }),
      { numRuns: 40 },
    );
  });

  test('of a thousand small jobs is one command, and the largest job fits one by itself', async () => {
    expect(pieceFrom(requestOf(1_000, { bytes: () => 60 }), 0, idOf)).toHaveLength(1_000);
    expect(pieceFrom(requestOf(5_000, { bytes: () => 0 }), 4_990, idOf)).toHaveLength(10);
    const quotes = `"${'\\"'.repeat(INLINE_INPUT_MAX_BYTES / 2 - 1)}"` as RawJson;
    const largest = { ...submissionOf(0), input: quotes, extras: quotes, sealedExtras: 'x'.repeat(90_000) };
    expect(Buffer.byteLength(quotes)).toBe(INLINE_INPUT_MAX_BYTES);
    expect(await bytesSent(piece(largest))).toBeLessThan(MESSAGE_MAX_BYTES);
  });
});

function piece(one: Submission): readonly NamedSubmission[] {
  return [{ id: idOf(0), submission: one }];
}
