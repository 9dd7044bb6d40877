import type { HostVerb, JobVerb } from '@berth/contracts';
import type { AskingLimit } from '@berth/domain';

type Verb = HostVerb | JobVerb | 'withdraw';

const limit = (atOnceMax: number, tokensPerSecond: number, tokensMax: number): AskingLimit => ({
  atOnceMax,
  rate: { tokensMax, tokensPerSecond },
});

/**
 * Payload: an agent has 64 loads under way, and four parts of each input that it fetches. All that it has gathered while
 * the routers were away comes at once.
 */
const PAYLOAD = limit(1_024, 2_000, 4_000);

/**
 * The questions that one host may ask of one process, far above what an honest agent with its most workers does. Each
 * verb has its own, so that a worker that makes its agent ask one thing without end costs its neighbours neither a
 * lease nor a result.
 */
const LIMITS: Readonly<Record<Verb, AskingLimit>> = {
  // Messages: one for each turn in which workers of the host begin to ask; what they list is bounded beside (`entryLimit`).
  take: limit(4_096, 2_000, 4_096),
  // One after the other, a page of leases in each: 13 a second with 64 workers of 1,024 jobs. Each lease costs a write.
  renew: limit(4, 40, 256),
  done: PAYLOAD,
  chunk: PAYLOAD,
  progress: PAYLOAD,
  download: PAYLOAD,
  upload: PAYLOAD,
  withdraw: limit(1_024, 2_000, 4_000),
  // One at a time, and not before 50 ms have passed; each costs the database some statements.
  report: limit(8, 50, 250),
  join: limit(4, 2, 20),
};

export const questionLimit = (verb: string): AskingLimit =>
  Object.hasOwn(LIMITS, verb) ? LIMITS[verb as Verb] : PAYLOAD;

/**
 * The entries that one host may list in its messages of a kind, in one process: as much as if each had a message of its
 * own. A worker that asks waits for five seconds, or is paused for one by its agent.
 */
const ENTRIES: Readonly<Record<'take' | 'done', AskingLimit>> = {
  take: limit(4_096, 4_000, 8_192),
  done: limit(2_048, 4_000, 8_192),
};

export const entryLimit = (verb: string): AskingLimit => (verb === 'done' ? ENTRIES.done : ENTRIES.take);
