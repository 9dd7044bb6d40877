import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HistoryTable } from '../../test/job-history-table.js';
import type { OwnedLog } from '../../test/endpoint-jobs/owned-log.js';
import { writeStory } from '../../test/endpoint-jobs/play-story.js';
import { stories } from '../../test/endpoint-jobs/stories.js';
import { applyFact, newEndpointState, type LogFact } from '../endpoint-jobs/index.js';
import type { EndpointId } from '../ids.js';
import { isEnded } from '../job/index.js';
import { newestFirst } from '../job-pages/index.js';
import { describeJob, type JobDetail } from '../job-summary/index.js';
import { isHistoryFact, type EndpointFacts } from './project-facts.js';

const ENDPOINT = 'e1' as EndpointId;

interface Batch {
  readonly sequence: number;
  readonly facts: readonly LogFact[];
}

const batchesOf = ({ batches }: OwnedLog): readonly Batch[] =>
  batches.map(({ sequence, text }) => ({
    sequence,
    facts: text.split('\n').map((line) => JSON.parse(line) as LogFact),
  }));

const readBatch = ({ facts }: Batch): EndpointFacts => ({
  endpointId: ENDPOINT,
  facts: facts.filter(isHistoryFact),
});

/** What the owner tells of each job that has ended: the last that it tells before the job is queued again, or gone. */
function toldByOwner(batches: readonly Batch[]): readonly JobDetail[] {
  const state = newEndpointState(0);
  const told = new Map<string, JobDetail>();
  for (const { facts, sequence } of batches) {
    for (const fact of facts) {
      const applied = applyFact(state, fact, { sequence });
      if (applied.kind !== 'applied') throw new Error(JSON.stringify(applied));
      for (const { jobId } of applied.touched) {
        const data = state.jobs.get(jobId)?.data;
        if (data === undefined) continue;
        told.delete(jobId);
        if (isEnded(data.state)) told.set(jobId, describeJob(data, fact.atMs));
      }
    }
  }
  return inOrder([...told.values()]);
}

const inOrder = (jobs: readonly JobDetail[]): readonly JobDetail[] => jobs.toSorted(newestFirst);

function pagesOf(batches: readonly Batch[], sizes: readonly number[]): readonly (readonly EndpointFacts[])[] {
  const pages: EndpointFacts[][] = [];
  for (let from = 0, page = 0; from < batches.length; page += 1) {
    const size = sizes[page % sizes.length] ?? 1;
    pages.push(batches.slice(from, from + size).map(readBatch));
    from += size;
  }
  return pages;
}

/** How many pages are read before the reader goes back, and to which. */
const turns = fc.record({ turn: fc.nat(), back: fc.nat() });
const pageSizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

/** Long ones, in which jobs are tried again and again. */
const logs = stories(160, 80).map((story) => batchesOf(writeStory(story)));

test('in whatever pages a log is read, the history tells of each ended job what its owner told', () => {
  fc.assert(
    fc.property(logs, pageSizes, (batches, sizes) => {
      const table = new HistoryTable();
      const pages = pagesOf(batches, sizes);
      for (const page of pages) table.take(page);
      expect(inOrder(table.told())).toEqual(toldByOwner(batches));
    }),
    { numRuns: 80 },
  );
});

test('a page that is read once more changes nothing, and neither does a reader that goes back and reads on from there', () => {
  fc.assert(
    fc.property(logs, pageSizes, turns, (batches, sizes, { back, turn }) => {
      const table = new HistoryTable();
      const pages = pagesOf(batches, sizes);
      const reached = pages.slice(0, turn % (pages.length + 1));
      for (const page of reached) {
        table.take(page);
        const before = table.told();
        table.take(page);
        expect(table.told()).toEqual(before);
      }
      for (const page of pages.slice(back % (reached.length + 1))) table.take(page);
      expect(inOrder(table.told())).toEqual(toldByOwner(batches));
    }),
    { numRuns: 80 },
  );
});

test('where batches were purged unread, every end that was read is told, with the attempts that were', () => {
  fc.assert(
    fc.property(logs, fc.func(fc.boolean()), (all, isRead) => {
      const batches = all.filter(({ sequence }) => isRead(sequence));
      const table = new HistoryTable();
      for (const page of pagesOf(batches, [3])) table.take(page);
      for (const { facts } of pagesOf(batches, [1]).flat()) {
        for (const fact of facts) {
          const isEnd = 'summary' in fact && !(fact.kind === 'lost' && fact.next !== null);
          if (!isEnd) continue;
          const { attempt, createdAtMs } = fact.summary;
          const row = table.rows().find(({ job }) => job.jobId === fact.jobId && job.createdAtMs === createdAtMs);
          expect(row?.attempt).toBeGreaterThanOrEqual(attempt);
        }
      }
      for (const { attemptList, attempts } of table.told()) {
        expect(attemptList.length).toBeLessThanOrEqual(attempts);
        expect(attemptList.map(({ attempt }) => attempt)).toEqual(
          attemptList.map(({ attempt }) => attempt).toSorted((a, b) => a - b),
        );
      }
    }),
    { numRuns: 60 },
  );
});
