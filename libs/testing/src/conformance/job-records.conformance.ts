import type { Job, RawJson } from '@berth/domain';
import type { JobRecords } from '@berth/jobs';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../servers/eventually.js';
import { LONG_LIFE_MS, SHORT_LIFE_MS, type Open } from './conformance.js';
import { freshKey, runningJob, sampleJob } from './sample-job.js';

/** What the life of a job relies on, of any store of records. */
export function jobRecordsConformance(name: string, open: Open<JobRecords>): void {
  describe(`${name} as job records`, () => {
    test('a record that never was reads as none', async () => {
      const { port } = await open();
      expect(await port.read(freshKey())).toBeNull();
    });

    test('a created record reads back with its version', async () => {
      const { port } = await open();
      const key = freshKey();
      const sequence = await create(port, sampleJob(key));
      expect(await port.read(key)).toEqual({ job: sampleJob(key), sequence });
    });

    test('every member comes back as it was written', async () => {
      const { port } = await open();
      const key = freshKey();
      const job = runningJob(key, {
        origin: 'runsync',
        charged: 2,
        endedAtMs: 1_750_000_002_000,
        lowPriority: true,
        extras: '{"policy":{"ttl":60000}}' as RawJson,
        webhook: 'https://example.org/hook?a=1&b=2',
        output: { kind: 'blob', manifest: { name: 'out-1', parts: 3, sizeBytes: 1_200_000, sha256: 'ab'.repeat(32) } },
        error: 'line one\nline two \u{1F600}',
        chunks: 7,
        history: [
          {
            attempt: 1,
            hostId: runningJob(key).current!.hostId,
            workerId: runningJob(key).current!.workerId,
            startedAtMs: 1,
            endedAtMs: 2,
            outcome: 'lost',
            stoppedAtMs: null,
            logTail: ['Traceback', 'MemoryError'],
            reason: 'worker lost',
          },
        ],
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      });
      await create(port, job);
      expect((await port.read(key))?.job).toEqual(job);
    });

    test.each([
      ['numbers beyond what a double holds', '{"n":12345678901234567890,"e":1.0E+2,"z":-0.0}'],
      ['space, order and repeated names', '{ "b" : 1 ,\t"a":\n[ ] , "b":2 }'],
      ['escapes as they were written', '"\\u0041\\/\\u00e9é\\ud83d\\ude00😀\\ud800"'],
      ['control and line separator characters', '"\u007f\u0080\u2028\u2029\ufeff"'],
    ])('payload text survives byte for byte: %s', async (_what, json) => {
      const { port } = await open();
      const key = freshKey();
      const payload = { kind: 'inline', json: json as RawJson } as const;
      await create(port, runningJob(key, { input: payload, output: payload }));
      const read = await port.read(key);
      expect(read?.job.input).toEqual(payload);
      expect(read?.job.output).toEqual(payload);
    });

    test('the largest inline payloads fit', async () => {
      const { port } = await open();
      const key = freshKey();
      const job = runningJob(key, {
        input: { kind: 'inline', json: `"${'é'.repeat(32 * 1024 - 1)}"` as RawJson },
        output: { kind: 'inline', json: `"${'"\\'.replaceAll(/./g, '\\$&').repeat(64 * 1024 - 1)}"` as RawJson },
      });
      await create(port, job);
      expect((await port.read(key))?.job).toEqual(job);
    });

    test('a record cannot be created twice', async () => {
      const { port } = await open();
      const key = freshKey();
      await create(port, sampleJob(key));
      expect(await port.create(sampleJob(key, { mutation: 'other' }), LONG_LIFE_MS)).toEqual({ kind: 'conflict' });
      expect((await port.read(key))?.job.mutation).toBe('mutation-1');
    });

    test('a record is replaced over exactly the version named', async () => {
      const { port } = await open();
      const key = freshKey();
      const first = await create(port, sampleJob(key));
      const outcome = await port.replace(runningJob(key), first, LONG_LIFE_MS);
      expect(outcome).toEqual({ kind: 'written', sequence: expect.any(Number) });
      const read = await port.read(key);
      expect(read?.job).toEqual(runningJob(key));
      expect(read?.sequence).toBeGreaterThan(first);
    });

    test('a version that is over conflicts, and changes nothing', async () => {
      const { port } = await open();
      const key = freshKey();
      const first = await create(port, sampleJob(key));
      await port.replace(runningJob(key), first, LONG_LIFE_MS);
      expect(await port.replace(sampleJob(key, { mutation: 'late' }), first, LONG_LIFE_MS)).toEqual({
        kind: 'conflict',
      });
      expect((await port.read(key))?.job.mutation).toBe('mutation-2');
    });

    test('a record that never was cannot be replaced', async () => {
      const { port } = await open();
      const key = freshKey();
      const sequence = await create(port, sampleJob(freshKey()));
      expect(await port.replace(sampleJob(key), sequence, LONG_LIFE_MS)).toEqual({ kind: 'conflict' });
    });

    test('of many writers over one version exactly one wins', async () => {
      const { port } = await open();
      const key = freshKey();
      const first = await create(port, sampleJob(key));
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, writer) =>
          port.replace(runningJob(key, { mutation: `writer-${writer}` }), first, LONG_LIFE_MS),
        ),
      );
      const kinds = outcomes.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'written')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'conflict')).toHaveLength(19);
      expect((await port.read(key))?.job.mutation).toBe(`writer-${kinds.indexOf('written')}`);
    });

    test('records of one job id at different endpoints have nothing to do with each other', async () => {
      const { port } = await open();
      const key = freshKey();
      const other = { ...key, endpointId: freshKey().endpointId };
      await create(port, sampleJob(key));
      expect(await port.read(other)).toBeNull();
      await create(port, sampleJob(other));
    });

    test('a record expires by itself, and its id cannot be created again at once', async () => {
      const { port, elapse } = await open();
      const key = freshKey();
      const sequence = await create(port, sampleJob(key), SHORT_LIFE_MS);
      await elapse(SHORT_LIFE_MS);
      await eventually(async () => expect(await port.read(key)).toBeNull());
      expect(await port.create(sampleJob(key), LONG_LIFE_MS)).toEqual({ kind: 'conflict' });
      expect(await port.replace(sampleJob(key), sequence, LONG_LIFE_MS)).toEqual({ kind: 'conflict' });
    });

    test('the newest version says how long the record lives', async () => {
      const { port, elapse } = await open();
      const [longer, shorter] = [freshKey(), freshKey()];
      const first = await create(port, sampleJob(longer), SHORT_LIFE_MS);
      await port.replace(runningJob(longer), first, LONG_LIFE_MS);
      const second = await create(port, sampleJob(shorter), LONG_LIFE_MS);
      await port.replace(runningJob(shorter), second, SHORT_LIFE_MS);
      await elapse(SHORT_LIFE_MS);
      await eventually(async () => expect(await port.read(shorter)).toBeNull());
      expect((await port.read(longer))?.job.state).toBe('IN_PROGRESS');
    });
  });
}

async function create(records: JobRecords, job: Job, ttlMs = LONG_LIFE_MS): Promise<number> {
  const outcome = await records.create(job, ttlMs);
  if (outcome.kind !== 'written') throw new Error(`not created: ${outcome.kind}`);
  return outcome.sequence;
}
