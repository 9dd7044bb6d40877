import { describe, expect, test } from '@jest/globals';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import type { JobId } from '../ids.js';

/**
 * What every operation does to a job in every state: the answer, and after an arrow what the job is then where that is
 * another thing than before. For a purge the number of removed jobs comes first. The router's own table, as seen from here.
 */
const TABLE = `
job         | is          | ttl | cancel         | retry         | purge
IN_QUEUE    | IN_QUEUE    | 200 | 200 → CANCELLED | 409           | 1: 200 → gone
IN_PROGRESS | IN_PROGRESS | 200 | 200 → CANCELLED | 409           | 0: 200
COMPLETED   | COMPLETED   | 200 | 200            | 409            | 0: 200
FAILED      | FAILED      | 200 | 200            | 200 → IN_QUEUE | 0: 200
CANCELLED   | CANCELLED   | 200 | 200            | 409            | 0: 200
TIMED_OUT   | TIMED_OUT   | 200 | 200            | 200 → IN_QUEUE | 0: 200
retried     | IN_QUEUE    | 200 | 200 → CANCELLED | 200           | 1: 200 → gone
requeued    | IN_QUEUE    | 200 | 200 → CANCELLED | 409           | 1: 200 → gone
purged      | gone        | 404 | 404            | 404            | 0: 200
expired     | gone        | 404 | 404            | 404            | 0: 200
unknown     | gone        | 404 | 404            | 404            | 0: 200
`;

const ended =
  (state: 'COMPLETED' | 'FAILED' | 'TIMED_OUT') =>
  (scene: Scene): JobId => {
    const jobId = scene.submit();
    scene.finish(scene.takeOne(), state, state === 'COMPLETED' ? null : 'boom');
    return jobId;
  };

const SETTING: Readonly<Record<string, (scene: Scene) => JobId>> = {
  IN_QUEUE: (scene) => scene.submit(),
  IN_PROGRESS: (scene) => {
    scene.submit();
    return scene.takeOne().jobId;
  },
  COMPLETED: ended('COMPLETED'),
  FAILED: ended('FAILED'),
  TIMED_OUT: ended('TIMED_OUT'),
  CANCELLED: (scene) => {
    const jobId = scene.submit();
    scene.ask({ kind: 'cancel', jobId });
    return jobId;
  },
  retried: (scene) => {
    const jobId = ended('FAILED')(scene);
    scene.retry(jobId);
    return jobId;
  },
  requeued: (scene) => {
    const jobId = scene.submit();
    scene.giveUp(scene.takeOne(), true);
    return jobId;
  },
  purged: (scene) => {
    const jobId = scene.submit();
    scene.purge();
    return jobId;
  },
  expired: (scene) => {
    const jobId = scene.submit();
    scene.ask({ kind: 'replace-life', jobId, leftMs: 1_000 });
    scene.pass(1_000);
    scene.look();
    return jobId;
  },
  unknown: () => 'nobody' as JobId,
};

const OPERATION = {
  ttl: (scene: Scene, jobId: JobId) => scene.ask({ kind: 'replace-life', jobId, leftMs: 600_000 }),
  cancel: (scene: Scene, jobId: JobId) => scene.ask({ kind: 'cancel', jobId }),
  retry: (scene: Scene, jobId: JobId) => scene.retry(jobId),
  purge: (scene: Scene) => scene.purge(),
} as const;

const STATUS_OF_CODE: Readonly<Record<string, number>> = { 'job-not-found': 404, 'job-not-retriable': 409 };

function observe(job: string, operation: keyof typeof OPERATION): string {
  const scene = new Scene();
  const jobId = SETTING[job]?.(scene) as JobId;
  const before = scene.stateOf(jobId);
  const answer = OPERATION[operation](scene, jobId);
  const status = answer.kind === 'refused' ? STATUS_OF_CODE[answer.code] : 200;
  const after = scene.stateOf(jobId);
  if (answer.kind === 'job') expect(answer.state).toBe(after);
  const removed = answer.kind === 'purged' ? `${answer.removed}: ` : '';
  return `${removed}${status}${after === before ? '' : ` → ${after}`}`;
}

const [head = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('every operation', () => {
  test.each(rows)('on a job that is %s', (job, is, ...cells) => {
    const scene = new Scene();
    expect(scene.stateOf(SETTING[job]?.(scene) as JobId)).toBe(is);
    const operations = head.slice(2) as (keyof typeof OPERATION)[];
    expect(operations.map((operation) => observe(job, operation))).toEqual(cells);
  });
});

test('a refused retry says what can be done', () => {
  const scene = new Scene();
  const answer = scene.retry(SETTING['COMPLETED']?.(scene) as JobId);
  expect(answer).toMatchObject({ reason: 'not-retriable', detail: expect.stringMatching(/COMPLETED.*another result/) });
});
