import { describe, expect, test } from '@jest/globals';
import { Scene } from '../../../test/endpoint-jobs/scene.js';
import type { EndpointId, HostId, JobId } from '../../ids.js';
import { INLINE_INPUT_MAX_BYTES, JOB_STATES, isEnded, type JobState } from '../../job/index.js';
import { encodeJson } from '../../json/index.js';
import { viewAssignment, viewDeliveries, viewDescription, viewHold, viewJob, viewJobs } from './job-views.js';

const ENDPOINT = 'e1' as EndpointId;
const ALL = new Set(JOB_STATES);
/** No page, but what is named. */
const NAMED_ALONE = { before: null, limit: 0, statuses: new Set<JobState>() };
const LARGE = { kind: 'inline', json: encodeJson('x'.repeat(300)) } as const;
const SMALL = { kind: 'inline', json: encodeJson('x') } as const;

const bodyOf = (input: typeof LARGE | typeof SMALL) => ({
  input,
  extras: encodeJson({}),
  sealedExtras: null,
  traceparent: null,
});

describe('one job with all its attempts', () => {
  test('is told whatever has become of it', () => {
    const scene = new Scene();
    const outcomesOf = (jobId: JobId): readonly unknown[] => {
      const detail = viewDescription(scene.state, jobId, scene.nowMs)?.detail;
      if (detail === undefined) throw new Error('the job is gone');
      expect(viewJobs(scene.state, { ...NAMED_ALONE, alsoIds: [jobId] }, scene.nowMs).entries).toMatchObject([
        { jobId, status: detail.status, attempts: detail.attempts, error: detail.error },
      ]);
      return [detail.status, detail.attempts, detail.error, ...detail.attemptList.map(({ outcome }) => outcome)];
    };
    const webhook = 'https://user:secret@hooks.example.com/path?key=secret';
    const jobId = scene.submit({ webhook });
    expect(outcomesOf(jobId)).toEqual(['IN_QUEUE', 0, null]);
    scene.pass(1_000);
    const first = scene.takeOne();
    scene.pass(500);
    expect(outcomesOf(jobId)).toEqual(['IN_PROGRESS', 1, null, null]);
    scene.giveUp(first, true, 'the container was killed');
    expect(outcomesOf(jobId)).toEqual(['IN_QUEUE', 1, null, 'lost']);
    scene.pass(30_000);
    scene.finish(scene.takeOne(), 'FAILED', 'it broke');
    expect(outcomesOf(jobId)).toEqual(['FAILED', 2, 'it broke', 'lost', 'FAILED']);
    scene.retry(jobId);
    scene.finish(scene.takeOne(), 'TIMED_OUT', 'too slow');
    expect(outcomesOf(jobId)).toEqual(['TIMED_OUT', 3, 'too slow', 'lost', 'FAILED', 'TIMED_OUT']);
    scene.pass(20_000);
    scene.retry(jobId);
    scene.ask({ kind: 'cancel', jobId });
    expect(outcomesOf(jobId)).toEqual(['CANCELLED', 3, null, 'lost', 'FAILED', 'TIMED_OUT']);
    scene.submit();
    const proof = scene.takeOne();
    scene.pass(70);
    scene.finish(proof, 'COMPLETED');
    expect(outcomesOf(proof.jobId)).toEqual(['COMPLETED', 1, null, 'COMPLETED']);
    expect(viewDescription(scene.state, proof.jobId, scene.nowMs)?.detail).toMatchObject({
      ...{ executionTimeMs: 70, hostId: 'h1', workerId: 'w1', webhook: null },
    });
    expect(viewDescription(scene.state, jobId, scene.nowMs)?.detail.webhook).toBe('https://hooks.example.com');
  });

  test('is nothing where there is no such job', () => {
    const { nowMs, state } = new Scene();
    const jobId = 'nobody' as JobId;
    expect(viewDescription(state, jobId, nowMs)).toBeNull();
    expect(viewJob(state, { endpointId: ENDPOINT, jobId }, nowMs)).toBeNull();
    expect(viewDeliveries(state, jobId)).toBeNull();
  });
});

describe('what is not in memory', () => {
  test('is named by its batch, which has its place once it is committed', () => {
    const scene = new Scene();
    const jobId = scene.submit({ body: bodyOf(LARGE) });
    const proof = scene.takeOne();
    const body = viewAssignment(scene.state, jobId, scene.nowMs)?.body;
    expect(body).toEqual({ value: null, reference: { part: 'body', jobId, attempt: 1, place: { sequence: null } } });
    scene.ask({
      ...{ kind: 'finish', ...proof, state: 'COMPLETED', error: null, chunks: 0, logTail: [] },
      ...{ output: LARGE, outputBytes: LARGE.json.length },
    });
    const seen = viewJob(scene.state, { endpointId: ENDPOINT, jobId }, scene.nowMs);
    expect(seen?.output).toMatchObject({ value: null, reference: { part: 'output', place: { sequence: null } } });
    scene.log.commit();
    expect(body?.reference?.place.sequence).toEqual(expect.any(Number));
    expect(seen?.output.reference?.place.sequence).toBeGreaterThan(body?.reference?.place.sequence ?? Infinity);
  });

  test('is nothing where there is nothing, and the value itself where it is small', () => {
    const scene = new Scene();
    const jobId = scene.submit({ body: bodyOf(SMALL) });
    scene.take();
    const seen = viewJob(scene.state, { endpointId: ENDPOINT, jobId }, scene.nowMs);
    expect(seen?.output).toEqual({ value: null, reference: null });
    expect(viewAssignment(scene.state, jobId, scene.nowMs)?.body).toEqual({ value: bodyOf(SMALL), reference: null });
  });
});

describe('the hold of an attempt', () => {
  test('names the batch of an input that may lie beside the log, and no other', () => {
    const scene = new Scene();
    const createdAtMs = scene.nowMs;
    scene.submit({ bodyBytes: INLINE_INPUT_MAX_BYTES });
    scene.submit({ bodyBytes: INLINE_INPUT_MAX_BYTES + 1 });
    scene.pass(50);
    const [inLog, beside] = scene.take(2);
    if (inLog === undefined || beside === undefined) throw new Error('both wait');
    expect(viewHold(scene.state, inLog)).toEqual({ createdAtMs, input: null });
    expect(viewHold(scene.state, beside)).toMatchObject({ createdAtMs, input: { jobId: beside.jobId, part: 'body' } });
  });

  test("is over with the attempt, and never somebody else's", () => {
    const scene = new Scene();
    scene.submit();
    const proof = scene.takeOne();
    expect(viewHold(scene.state, proof)).not.toBeNull();
    expect(viewHold(scene.state, { ...proof, token: 'forged' })).toBeNull();
    expect(viewHold(scene.state, { ...proof, hostId: 'h2' as HostId })).toBeNull();
    scene.finish(proof, 'COMPLETED');
    expect(viewHold(scene.state, proof)).toBeNull();
  });
});

describe('what became of webhooks', () => {
  const webhook = 'https://hooks.example.com';

  test('is told of every end of the job, the oldest first, and also when the job is gone', () => {
    const scene = new Scene();
    const jobId = scene.submit({ webhook, retentionMs: 60_000 });
    scene.submit({ webhook });
    scene.finish(scene.takeOne(), 'FAILED', 'it broke');
    scene.ask({ kind: 'begin-try', jobId, attempt: 1, token: 'd1' });
    scene.retry(jobId);
    scene.pass(1_000);
    scene.look();
    expect(viewDeliveries(scene.state, jobId)).toMatchObject([
      { jobId, attempt: 1, url: webhook, outcome: null, isClaimed: true, tries: [{ statusCode: null }] },
    ]);
    const again = scene.take(2).find((proof) => proof.jobId === jobId);
    if (again !== undefined) scene.finish(again, 'COMPLETED');
    expect(viewDeliveries(scene.state, jobId)?.map(({ attempt }) => attempt)).toEqual([1, 2]);
    scene.pass(61_000);
    scene.look();
    expect(scene.stateOf(jobId)).toBe('gone');
    expect(viewDeliveries(scene.state, jobId)).toHaveLength(2);
  });

  test('is an empty list where a job that lives has none', () => {
    const scene = new Scene();
    expect(viewDeliveries(scene.state, scene.submit())).toEqual([]);
  });
});

describe('a list', () => {
  test('is cut at its limit and goes on below, with one entry more than was asked for', () => {
    const scene = new Scene();
    const ids = Array.from({ length: 5 }, () => {
      scene.pass(1);
      return scene.submit();
    });
    const query = { before: null, limit: 2, statuses: ALL, alsoIds: [] };
    const first = viewJobs(scene.state, query, scene.nowMs);
    expect(first.entries.map(({ jobId }) => jobId)).toEqual([ids[4], ids[3], ids[2]]);
    expect(first.entries.map(({ queue }) => queue?.position)).toEqual([5, 4, 3]);
    const rest = viewJobs(scene.state, { ...query, before: first.through }, scene.nowMs);
    expect(rest).toMatchObject({ entries: [{ jobId: ids[1] }, { jobId: ids[0] }], through: null });
  });

  test('holds only what has one of the states that are asked for', () => {
    const scene = new Scene();
    scene.submit();
    const jobId = scene.submit();
    scene.ask({ kind: 'cancel', jobId });
    const ended = new Set(JOB_STATES.filter((state) => isEnded(state)));
    expect(
      viewJobs(scene.state, { before: null, limit: 9, statuses: ended, alsoIds: [] }, scene.nowMs).entries,
    ).toMatchObject([{ jobId, status: 'CANCELLED', queue: null }]);
  });

  test('holds besides what is named and is here, each job once and in its place', () => {
    const scene = new Scene();
    const [first, second] = [scene.submit(), scene.submit()];
    scene.pass(1);
    const third = scene.submit();
    scene.ask({ kind: 'cancel', jobId: second });
    const query = { before: null, limit: 9, statuses: new Set<JobState>(['CANCELLED']) };
    const alsoIds = [first, second, third, 'nobody' as JobId];
    const { entries } = viewJobs(scene.state, { ...query, alsoIds }, scene.nowMs);
    expect(entries.map(({ jobId, status }) => [jobId, status])).toEqual([
      [third, 'IN_QUEUE'],
      [second, 'CANCELLED'],
      [first, 'IN_QUEUE'],
    ]);
  });
});
