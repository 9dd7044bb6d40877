import type { LogsReply, LogsRequest, WorkerLogPage } from '@berth/contracts';
import type { EndpointId, HostId, LogLine, WorkerId } from '@berth/domain';
import { ManualClock, letRun } from '@berth/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { HostFollower } from './host-follower.js';
import type { FollowedWorker, LogEvent } from './log-event.js';

const SECOND_MS = 1_000;
const W1 = 'w1' as WorkerId;
const W2 = 'w2' as WorkerId;
const ends: AbortController[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end.abort();
});

const followed = (workerId: WorkerId): FollowedWorker => ({ workerId, after: 0, isPresent: true, isEnded: false });
const lineOf = (sequence: number): LogLine => ({ sequence, atMs: 0, source: 'container', line: 'tick' });

/** A host that holds no question: it answers each at once, with what `pageOf` makes of it. */
function follow(pageOf: (after: number) => Partial<WorkerLogPage>) {
  const clock = new ManualClock();
  const asked: LogsRequest[] = [];
  const told: LogEvent[] = [];
  const ask = async (_: HostId, request: LogsRequest): Promise<LogsReply> => {
    asked.push(request);
    await letRun();
    const pages = request.cursors.map(({ after, workerId }): WorkerLogPage => {
      const empty = { workerId, state: 'open', lines: [], next: after ?? 0, missing: 0 } as const;
      return { ...empty, ...pageOf(after ?? 0) };
    });
    return { pages };
  };
  const tell = async (events: readonly LogEvent[]): Promise<void> => {
    told.push(...events);
  };
  const ids = { hostId: 'h1' as HostId, endpointId: 'e1' as EndpointId };
  const host = new HostFollower({ ...ids, wish: {}, ask, tell, clock, bytesMax: () => 1_024 });
  const end = new AbortController();
  ends.push(end);
  host.add(followed(W1));
  void host.run(end.signal);
  return { asked, clock, host, told };
}

const nextLine = (after: number): Partial<WorkerLogPage> => ({ lines: [lineOf(after + 1)], next: after + 1 });

describe('a host that does not hold its questions', () => {
  test.each<[string, Partial<WorkerLogPage>]>([
    ['has nothing to tell', {}],
    ['only moves its place on', { next: 7 }],
    ['does not know its worker yet', { state: 'unknown' }],
  ])('and %s is asked once a second', async (_, page) => {
    const { asked, clock } = follow(() => page);
    await clock.advance(0);
    expect(asked).toHaveLength(1);
    await clock.advance(SECOND_MS - 1);
    expect(asked).toHaveLength(1);
    for (let second = 1; second <= 5; second += 1) await clock.advance(SECOND_MS);
    expect(asked).toHaveLength(6);
  });

  test('and tells a line with each answer is asked a hundred times a second at most, and misses none', async () => {
    const { asked, clock, told } = follow(nextLine);
    for (let ms = 0; ms < SECOND_MS; ms += 1) await clock.advance(1);
    expect(asked.length).toBeGreaterThan(50);
    expect(asked.length).toBeLessThanOrEqual(101);
    const sequences = told.flatMap((event) => (event.kind === 'line' ? [event.line.sequence] : []));
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  });

  test('is asked at once for a worker that comes meanwhile', async () => {
    const { asked, clock, host } = follow(() => ({}));
    await clock.advance(0);
    host.add(followed(W2));
    await clock.advance(0);
    expect(asked.map(({ cursors }) => cursors.length)).toEqual([1, 2]);
  });
});
