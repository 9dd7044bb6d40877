import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PodLog } from './pod-log.js';

interface Printed {
  readonly atMs: number;
  readonly text: string;
}

const START_MS = Date.UTC(2026, 5, 1, 12, 0, 0);

/** Lines a little apart, as a kubelet keeps them. */
const printed = fc
  .array(
    fc.record({ gapMs: fc.nat(700), text: fc.string({ maxLength: 20 }).map((text) => text.replaceAll('\n', ' ')) }),
  )
  .map((lines) => {
    let atMs = START_MS;
    return lines.map(({ gapMs, text }) => ({ atMs: (atMs += gapMs), text }));
  });

/** What the API answers: only whole seconds are taken for a beginning. */
const answerFrom = (lines: readonly Printed[], sinceTime: string | null): Buffer =>
  Buffer.from(
    lines
      .filter(({ atMs }) => sinceTime === null || atMs >= Date.parse(sinceTime))
      .map(({ atMs, text }) => `${new Date(atMs).toISOString()} ${text}\n`)
      .join(''),
  );

/** Reads some pieces of an answer, and leaves. */
function readSome(lines: readonly Printed[], position: string | null, pieces: readonly number[]) {
  const log = new PodLog(position, 'uid');
  const answer = answerFrom(lines, log.sinceTime);
  const told: string[] = [];
  let [at, behind, isGap] = [0, position, false];
  for (const size of pieces) {
    const batch = log.take(answer.subarray(at, at + size));
    at += size;
    if (batch === null) continue;
    told.push(...batch.lines.map(({ text }) => text));
    behind = batch.position;
    isGap ||= batch.isGap;
  }
  return { told, position: behind, isGap };
}

describe('the log of a Pod', () => {
  test('is told once and in its order, however often and wherever its reader leaves', () => {
    fc.assert(
      fc.property(printed, fc.array(fc.array(fc.integer({ min: 1, max: 200 }))), (lines, readers) => {
        const told: string[] = [];
        let position: string | null = null;
        for (const pieces of [...readers, [Number.MAX_SAFE_INTEGER]]) {
          const read = readSome(lines, position, pieces);
          expect(read.isGap).toBe(false);
          told.push(...read.told);
          ({ position } = read);
        }
        expect(told).toEqual(lines.map(({ text }) => text));
      }),
    );
  });

  test('has a gap where what was told last is kept no longer', () => {
    const lines = [0, 10, 20, 30].map((atMs) => ({ atMs: START_MS + atMs, text: String(atMs) }));
    const { position } = readSome(lines.slice(0, 3), null, [Number.MAX_SAFE_INTEGER]);
    const read = readSome(lines.slice(3), position, [Number.MAX_SAFE_INTEGER]);
    expect(read).toMatchObject({ told: ['30'], isGap: true });
  });

  test('begins anew for a position of another Pod, and leaves out what a kubelet says of itself', () => {
    const log = new PodLog('other 1780315200 5 1780315204.000000000', 'uid');
    expect(log.sinceTime).toBeNull();
    expect(log.take(Buffer.from('unable to retrieve container logs\n'))).toBeNull();
  });

  test('tells a line that does not end in pieces, and once', () => {
    const long = 'x'.repeat(100_000);
    const answer = Buffer.from(`2026-06-01T12:00:00Z ${long}\n2026-06-01T12:00:01Z next\n`);
    const log = new PodLog(null, 'uid');
    const batches = [log.take(answer.subarray(0, 70_000)), log.take(answer.subarray(70_000))];
    const texts = batches.flatMap((batch) => batch?.lines.map(({ text }) => text) ?? []);
    expect(texts).toHaveLength(3);
    expect(texts.slice(0, 2).join('')).toBe(long);
    expect(new PodLog(batches[1]?.position ?? null, 'uid').take(answer)).toBeNull();
  });
});
