import type { LogsReply, LogsRequest } from '@berth/contracts';
import type { EndpointId, WorkerId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { beforeEach, expect, test } from '@jest/globals';
import { LogAnswers } from './log-answers.js';
import { LogShelf } from './log-shelf.js';

const newFolder = useTempFolders();
const ACCOUNT_QUESTIONS_MAX = 64;
const [GREEDY, OTHER] = ['greedy', 'other'] as const;

let shelf: LogShelf;
let answers: LogAnswers;

beforeEach(async () => {
  const clock = new ManualClock();
  const bounds = { workerBytesMax: 1e6, accountBytesMax: 1e6, ageMaxMs: 1e9 };
  shelf = await LogShelf.open({ folder: await newFolder(), bounds, clock, logger: silentLogger });
  answers = new LogAnswers({ shelf, clock });
});

/** A worker of an account, with an endpoint of the same name, that has printed nothing. */
const worker = (accountId: string) => shelf.hold({ workerId: `${accountId}-w`, endpointId: accountId, accountId });

const ask = (accountId: string): Promise<LogsReply> => {
  const cursors = [{ workerId: `${accountId}-w` as WorkerId, after: 0 }];
  const request: LogsRequest = { endpointId: accountId as EndpointId, cursors, maxBytes: 1_000, waitMs: 10_000 };
  return answers.answer(request);
};

test('an account that asks for more than its share is refused, and another one is answered all the same', async () => {
  await worker(GREEDY);
  const spool = await worker(OTHER);
  const held = Array.from({ length: ACCOUNT_QUESTIONS_MAX }, () => ask(GREEDY));
  await expect(ask(GREEDY)).rejects.toMatchObject({ code: 'rate-limited' });

  const answer = ask(OTHER);
  await spool?.append([{ atMs: 1, source: 'container', line: 'here' }], {}, 1);
  answers.wake(`${OTHER}-w`);
  expect((await answer).pages).toMatchObject([{ lines: [{ line: 'here' }] }]);

  answers.close();
  expect((await Promise.all(held)).flatMap(({ pages }) => pages.flatMap(({ lines }) => lines))).toEqual([]);
  // Its places are free again.
  expect((await ask(GREEDY)).pages).toHaveLength(1);
});
