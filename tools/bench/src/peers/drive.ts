import { systemClock } from '@berth/lifecycle';
import { sendMany } from '../load.js';
import type { Contender } from './contender.js';
import { processorTimes } from './processor-time.js';

/** A share of each endpoint, and of each way to it, is a whole number. */
const JOBS = 3_200;
const SENDERS = 64;
const ENDED_WITHIN_MS = 120_000;
const LOOK_MS = 20;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) } });

export interface Round {
  readonly perSecond: number;
  /** Of the accepting calls, in ms, ascending. */
  readonly latenciesMs: readonly number[];
  /** Of one job, in ms, by what the processes are. */
  readonly processorMs: ReadonlyMap<string, number>;
}

/** From the first submit to the last end of some thousand jobs. @throws Error where they do not all end in time */
export async function drive(contender: Contender): Promise<Round> {
  const { completed, processes, targets } = contender;
  const wanted = await Promise.all(completed.map(async (count) => (await count()) + JOBS / completed.length));
  const before = await processorTimes(processes);
  const startedAtMs = systemClock.monotonicMs();
  const load = { method: 'POST', status: 200, body: BODY } as const;
  const share = 1 / targets.length;
  const sent = await Promise.all(
    targets.map((target) => sendMany({ ...target, ...load, concurrency: SENDERS * share, requests: JOBS * share })),
  );
  // One after the other, so that looking costs no more where there are many.
  for (const [at, count] of completed.entries()) {
    while ((await count()) < (wanted[at] ?? 0)) {
      if (systemClock.monotonicMs() - startedAtMs > ENDED_WITHIN_MS)
        throw new Error(`${contender.name}: not all ended`);
      await systemClock.sleep(LOOK_MS);
    }
  }
  const perSecond = (JOBS * 1_000) / (systemClock.monotonicMs() - startedAtMs);
  const after = await processorTimes(processes);
  return {
    perSecond,
    latenciesMs: sent.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b),
    processorMs: new Map([...after].map(([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / JOBS])),
  };
}
