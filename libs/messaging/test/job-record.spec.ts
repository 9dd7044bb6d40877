import { readFile } from 'node:fs/promises';
import type { Job, RawJson } from '@berth/domain';
import { freshKey, runningJob, sampleJob } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { decodeJobRecord, encodeJobRecord } from '../src/job-records/job-record-codec.js';
import { RECORD_HEADERS, milestonesFrom, recordHeaders } from '../src/job-records/record-headers.js';

/** As it lies in the stream: on one line. The file is laid out for reviewers. */
const golden = async (): Promise<string> =>
  JSON.stringify(JSON.parse(await readFile(new URL('golden/job-record.v1.json', import.meta.url), 'utf8')));

describe('the stored form of a record', () => {
  test('what version 1 wrote is still read, and still written the same', async () => {
    const text = await golden();
    const job = decodeJobRecord(text);
    expect(job.state).toBe('IN_PROGRESS');
    expect(job.input).toEqual({ kind: 'inline', json: '{"prompt":"\\u00e9",\t"n":1.0E+2}' });
    expect(encodeJobRecord(job)).toBe(text);
  });

  test('what version 1 wrote before it had all of its members is read too', async () => {
    const { sealedExtras, reservation, history, ...rest } = JSON.parse(await golden()) as Job;
    const older = history.map(({ stoppedAtMs, logTail, ...attempt }) => attempt);
    expect([sealedExtras, reservation, older]).not.toContain(undefined);
    const job = decodeJobRecord(JSON.stringify({ ...rest, history: older }));
    expect([job.sealedExtras, job.reservation]).toEqual([null, null]);
    expect(job.history).toEqual(older.map((attempt) => ({ ...attempt, stoppedAtMs: null, logTail: [] })));
  });

  test('a record of another version is refused by name', async () => {
    const newer = (await golden()).replace('"v":1', '"v":2');
    expect(() => decodeJobRecord(newer)).toThrow('version 2');
  });

  test('nothing but the members of a job is written', () => {
    const job = { ...sampleJob(freshKey()), secret: 'x' } as Job;
    expect(encodeJobRecord(job)).not.toContain('secret');
  });

  test('text that is no valid UTF-16 survives', () => {
    const json = '"\ud800x\udc00"' as RawJson;
    const job = sampleJob(freshKey(), { input: { kind: 'inline', json } });
    const stored = new TextDecoder().decode(new TextEncoder().encode(encodeJobRecord(job)));
    expect(decodeJobRecord(stored).input).toEqual({ kind: 'inline', json });
  });
});

describe('the headers of a record', () => {
  test('a queued job', () => {
    expect(recordHeaders(sampleJob(freshKey(), { lowPriority: true }))).toEqual({
      'Berth-State': 'IN_QUEUE',
      'Berth-Attempt': '1',
      'Berth-Priority': 'l',
      'Berth-Created-At': '1750000000000',
      'Berth-Queued-At': '1750000000000',
      'Berth-Not-Before': '1750000000000',
      'Berth-Expires-At': '1750003600000',
      'Berth-Charged': '0',
    });
  });

  test('what counts in earlier versions is told, and read again', () => {
    const milestones = [
      { sequence: 17, state: 'FAILED', attempt: 1 },
      { sequence: 20, state: 'IN_QUEUE', attempt: 2 },
    ] as const;
    const job = runningJob(freshKey(), { attempt: 2, milestones });
    const { [RECORD_HEADERS.milestones]: header = '' } = recordHeaders(job);
    expect(header).toBe('17:FAILED:1 20:IN_QUEUE:2');
    expect(milestonesFrom(header)).toEqual(milestones);
    expect(decodeJobRecord(encodeJobRecord(job))).toEqual(job);
  });

  test('an ended job', () => {
    const job = runningJob(freshKey(), { state: 'FAILED', endedAtMs: 1_750_000_005_000, attempt: 3, charged: 2 });
    expect(recordHeaders(job)).toEqual({
      'Berth-State': 'FAILED',
      'Berth-Attempt': '3',
      'Berth-Priority': 'n',
      'Berth-Created-At': '1750000000000',
      'Berth-Queued-At': '1750000000000',
      'Berth-Not-Before': '1750000000000',
      'Berth-Expires-At': '1750003600000',
      'Berth-Started-At': '1750000001000',
      'Berth-Ended-At': '1750000005000',
      'Berth-Deadline-At': '1750000601000',
      'Berth-Host': 'host-1',
      'Berth-Token': 'token-1',
      'Berth-Charged': '2',
    });
  });
});
