import { describe, expect, test } from '@jest/globals';
import { HistoryTable } from '../../test/job-history-table.js';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import type { LogFact } from '../endpoint-jobs/index.js';
import type { EndpointId, JobId } from '../ids.js';
import { describeJob, type JobDetail } from '../job-summary/index.js';
import { isHistoryFact, rowsBefore, type EndpointFacts } from './project-facts.js';

const ENDPOINT = 'e1' as EndpointId;

/** The history of one endpoint, whose log a test lets it read page by page. */
class ReadScene extends Scene {
  readonly table = new HistoryTable();
  #read = 0;

  /** What was written since the last page. */
  page(): EndpointFacts {
    const facts = this.log.facts();
    const fresh = facts.slice(this.#read).filter(isHistoryFact);
    this.#read = facts.length;
    return { endpointId: ENDPOINT, facts: fresh };
  }

  read(): number {
    return this.table.take([this.page()]);
  }

  told(jobId: JobId): JobDetail | undefined {
    return this.table.told().find((job) => job.jobId === jobId);
  }

  toldByOwner(jobId: JobId): JobDetail {
    const data = this.state.jobs.get(jobId)?.data;
    if (data === undefined) throw new Error('the job is gone');
    return describeJob(data, this.nowMs);
  }
}

describe('a row', () => {
  test('tells of a job that ended what its owner tells, but for payloads and the secrets of a webhook', () => {
    const scene = new ReadScene();
    const jobId = scene.submit({ webhook: 'https://me:secret@example.com/secret?key=secret' });
    scene.pass(40);
    const proof = scene.takeOne();
    scene.pass(1_200);
    scene.ask({
      ...{ kind: 'finish', ...proof, state: 'FAILED', error: 'it\0broke', chunks: 3, logTail: ['bye'] },
      ...{ output: { kind: 'inline', json: '"secret"' as never }, outputBytes: 8 },
    });
    expect(scene.read()).toBe(1);
    expect(scene.told(jobId)).toEqual(scene.toldByOwner(jobId));
    expect(scene.told(jobId)).toMatchObject({
      ...{ status: 'FAILED', delayTimeMs: 40, executionTimeMs: 1_200, hostId: 'h1', workerId: 'w1', attempts: 1 },
      ...{ error: 'it\uFFFDbroke', webhook: 'https://example.com' },
      attemptList: [{ attempt: 1, outcome: 'FAILED', reason: 'it\uFFFDbroke', logTail: ['bye'] }],
    });
    expect(JSON.stringify(scene.table.rows())).not.toContain('secret');
  });

  test('tells of a job that never ran where and when it ended, and of no attempt', () => {
    const scene = new ReadScene();
    const jobId = scene.submit();
    scene.pass(500);
    scene.ask({ kind: 'cancel', jobId });
    scene.read();
    expect(scene.told(jobId)).toEqual(scene.toldByOwner(jobId));
    expect(scene.told(jobId)).toMatchObject({ status: 'CANCELLED', startedAtMs: null, attempts: 0, attemptList: [] });
  });

  test.each([[1], [2], [100]])('keeps every attempt, read in pages of %i facts', (size) => {
    const scene = new ReadScene();
    const jobId = scene.submit();
    scene.giveUp(scene.takeOne(), false, 'drained');
    scene.giveUp(scene.takeOne(), true, 'crash');
    scene.pass(30_000);
    scene.finish(scene.takeOne(), 'TIMED_OUT', 'slow');
    const { facts, ...batch } = scene.page();
    for (let from = 0; from < facts.length; from += size) {
      scene.table.take([{ ...batch, facts: facts.slice(from, from + size) }]);
    }
    expect(scene.told(jobId)).toEqual(scene.toldByOwner(jobId));
    expect(scene.told(jobId)?.attemptList.map(({ outcome }) => outcome)).toEqual(['lost', 'lost', 'TIMED_OUT']);
  });

  test('says when the worker of a stopped attempt let go, and what it wrote last', () => {
    const scene = new ReadScene();
    const jobId = scene.submit();
    const proof = scene.takeOne();
    scene.ask({ kind: 'cancel', jobId });
    scene.read();
    scene.pass(3_000);
    scene.ask({ kind: 'let-go', ...proof, agoMs: 1_000, logTail: ['last words'] });
    expect(scene.read()).toBe(1);
    expect(scene.told(jobId)).toEqual(scene.toldByOwner(jobId));
    expect(scene.told(jobId)?.attemptList[0]).toMatchObject({
      stoppedAtMs: scene.nowMs - 1_000,
      logTail: ['last words'],
    });
  });

  test('of a job that is queued again is told to nobody until it ends once more', () => {
    const scene = new ReadScene();
    const jobId = scene.submit();
    scene.finish(scene.takeOne(), 'FAILED', 'boom');
    scene.read();
    scene.retry(jobId);
    scene.read();
    expect(scene.told(jobId)).toBeUndefined();
    scene.finish(scene.takeOne(), 'COMPLETED');
    scene.read();
    expect(scene.told(jobId)).toEqual(scene.toldByOwner(jobId));
    expect(scene.told(jobId)).toMatchObject({ status: 'COMPLETED', attempts: 2, error: null });
  });

  test('stays when the job expires, and none is left of one that was purged while it waited', () => {
    const scene = new ReadScene();
    const ended = scene.submit({ retentionMs: 1_000 });
    scene.finish(scene.takeOne(), 'COMPLETED');
    const told = scene.toldByOwner(ended);
    const again = scene.submit();
    scene.finish(scene.takeOne(), 'FAILED', 'boom');
    scene.retry(again);
    scene.pass(2_000);
    scene.purge();
    scene.read();
    expect(scene.state.jobs.size).toBe(0);
    expect(scene.table.told()).toEqual([told]);
    expect(told.jobId).toBe(ended);
  });
});

test('rows are asked for only where facts build on them', () => {
  const scene = new ReadScene();
  scene.submit();
  scene.finish(scene.takeOne(), 'COMPLETED');
  const cancelled = scene.submit();
  const proof = scene.takeOne();
  scene.ask({ kind: 'cancel', jobId: cancelled });
  const retried = scene.submit();
  scene.finish(scene.takeOne(), 'FAILED', 'boom');
  expect(rowsBefore([scene.page()])).toEqual([]);
  const createdAtMs = scene.nowMs;
  scene.pass(10);
  scene.ask({ kind: 'let-go', ...proof, agoMs: 0, logTail: [] });
  scene.retry(retried);
  scene.finish(scene.takeOne(), 'COMPLETED');
  const place = (jobId: JobId) => ({ endpointId: ENDPOINT, jobId, createdAtMs });
  expect(rowsBefore([scene.page()])).toEqual([place(cancelled), place(retried)]);
});

test('jobs of two endpoints that have the same id are two', () => {
  const facts = (scene: ReadScene): readonly LogFact[] => {
    scene.finish(scene.takeOne(), 'COMPLETED');
    return scene.log.facts();
  };
  const table = new HistoryTable();
  for (const endpointId of ['e1', 'e2'] as EndpointId[]) {
    const scene = new ReadScene();
    scene.submit({ jobId: 'same' as JobId });
    table.take([{ endpointId, facts: facts(scene).filter(isHistoryFact) }]);
  }
  expect(table.rows().map(({ endpointId }) => endpointId)).toEqual(['e1', 'e2']);
});
