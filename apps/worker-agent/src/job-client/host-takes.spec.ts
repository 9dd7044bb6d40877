import type { TakeReply, TakeRequest, TakenJob } from '@berth/contracts';
import type { EndpointId, WorkerId } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock, SeededRandom, eventually } from '@berth/testing';
import { beforeEach, expect, test } from '@jest/globals';
import { HostTakes, type SentWish } from './host-takes.js';
import { jobClientMetrics } from './metrics.js';
import type { PartsOptions, RouterLink } from './router-link.port.js';

const ASK = { endpointId: 'ep' as EndpointId, workerId: 'w' as WorkerId, slots: 1, waitMs: 5_000 };
const JOB = { jobId: 'j' } as TakenJob;

let asked: { readonly request: TakeRequest; readonly options: PartsOptions<TakeReply> }[];
let failing: PromiseWithResolvers<void>;
let late: { readonly jobs: readonly TakenJob[]; readonly wish: SentWish }[];
let takes: HostTakes;

beforeEach(() => {
  asked = [];
  late = [];
  failing = Promise.withResolvers();
  const askParts = (_: string, request: unknown, options: unknown): Promise<void> => {
    asked.push({ request: request as TakeRequest, options: options as PartsOptions<TakeReply> });
    return failing.promise;
  };
  takes = new HostTakes({
    ...{ link: { askParts } as unknown as RouterLink, clock: new ManualClock(), random: new SeededRandom(1) },
    metrics: jobClientMetrics(new MetricRegistry()),
    onLate: (jobs, wish) => void late.push({ jobs, wish }),
  });
});

const takeIds = (): readonly string[] => asked.flatMap(({ request }) => request.wishes.map(({ takeId }) => takeId));

test('each wish has a name of its own, and its answer is known by it', async () => {
  const taken = [takes.ask(ASK), takes.ask(ASK)];
  await eventually(() => expect(asked).toHaveLength(1));
  const [first = '', second = ''] = takeIds();
  expect(first).not.toBe(second);
  const tell = asked[0]?.options.onPart ?? (() => false);
  expect(tell({ answers: [{ takeId: second, kind: 'jobs', jobs: [JOB] }] })).toBe(false);
  expect(tell({ answers: [{ takeId: first, kind: 'none' }] })).toBe(true);
  expect((await Promise.all(taken)).map(({ answer }) => answer.kind)).toEqual(['none', 'jobs']);
  expect(takes.waiting).toBe(0);
});

test('a job that comes after its wish was given up is told, to be given back', async () => {
  const taken = takes.ask(ASK);
  await eventually(() => expect(asked).toHaveLength(1));
  failing.reject(new Error('no answer'));
  await expect(taken).rejects.toThrow('no answer');
  const [takeId = ''] = takeIds();
  asked[0]?.options.onLate({ answers: [{ takeId, kind: 'jobs', jobs: [JOB] }] });
  expect(late).toEqual([{ jobs: [JOB], wish: { workerId: 'w', sentAtMs: expect.any(Number) } }]);
});

test('a wish that nobody answers who keeps its jobs fails', async () => {
  const taken = takes.ask(ASK);
  await eventually(() => expect(asked).toHaveLength(1));
  asked[0]?.options.onPart({ answers: [{ takeId: takeIds()[0] ?? '', kind: 'unanswered' }] });
  await expect(taken).rejects.toThrow('nobody who keeps');
});

test('no more wishes wait than a router holds for one host', async () => {
  const many = Array.from({ length: 4_096 }, () => takes.ask(ASK));
  await expect(takes.ask(ASK)).rejects.toThrow('as many wishes wait');
  await eventually(() => expect(asked.map(({ request }) => request.wishes.length)).toEqual(Array(16).fill(256)));
  failing.reject(new Error('over'));
  await Promise.allSettled(many);
  expect(takes.waiting).toBe(0);
});
