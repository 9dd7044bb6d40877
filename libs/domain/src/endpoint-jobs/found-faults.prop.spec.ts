import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { playStory } from '../../test/endpoint-jobs/play-story.js';
import type { Doctor } from '../../test/endpoint-jobs/owned-log.js';
import { stories } from '../../test/endpoint-jobs/stories.js';
import type { CommandDecision, EndpointCommand, SubmitCommand } from './commands.js';
import type { KeyUse, LogFact } from './facts.js';
import { itemJobId } from './job-data.js';
import type { EndpointState } from './state.js';

/** Faults that a rule might have; a change that brings one in must be told of it. */
const FAULTS: Readonly<Record<string, Doctor>> = {
  'a take that does not see what another has taken': { decision: takeWhatRuns },
  'a token that is not compared': { command: withRightToken },
  'a host that is not compared': { command: withRightHost },
  'one job too few carried': { carried: (facts) => facts.filter((_, at) => at !== facts.length - 2) },
  'a purge of the log past what is covered': { purgeThrough: (covers) => covers + 3 },
  'an attempt that had started and is lost without a charge': { decision: mapFacts(uncharged) },
  'a third loss in a row that counts as none': { decision: mapFacts(unstarted) },
  'a purge that counts one too many': { decision: mapFacts((fact) => counting(fact, 1)) },
  'an expiry that leaves one behind': { decision: mapFacts((fact) => counting(fact, -1)) },
  'an end that is told twice': { decision: twice },
  'a requeue at the place of another job': { decision: mapFacts(atFirstPlace) },
  'a piece of a named request that takes the place of the one before it': { command: withNextItem },
  'a router whose ids are taken for those of another': { command: withKnownIds },
  'totals that forget the last purge': { carried: (facts) => facts.map(withoutPurge) },
  'a carry that forgets what was shown': { carried: (facts) => facts.map(withoutOutput) },
};

test.each(Object.entries(FAULTS))('%s is found', (_, doctor) => {
  const told = fc.check(
    fc.property(stories(80), (story) => {
      playStory(story, doctor);
    }),
    { numRuns: 2_000, endOnFailure: true },
  );
  expect(told.failed).toBe(true);
});

function mapFacts(change: (fact: LogFact, state: EndpointState) => LogFact): NonNullable<Doctor['decision']> {
  return (decision, state) => ({ ...decision, facts: decision.facts.map((fact) => change(fact, state)) });
}

function takeWhatRuns(decision: CommandDecision, state: EndpointState): CommandDecision {
  const running = state.running.first;
  const facts = decision.facts.map((fact) =>
    fact.kind === 'taken' && running !== undefined ? { ...fact, jobId: running.data.jobId } : fact,
  );
  return { ...decision, facts };
}

function withRightToken(command: EndpointCommand, state: EndpointState): EndpointCommand {
  if (!('hostId' in command)) return command;
  const token = state.jobs.get(command.jobId)?.data.current?.token;
  return { ...command, token: token ?? command.token };
}

function withRightHost(command: EndpointCommand, state: EndpointState): EndpointCommand {
  if (!('hostId' in command)) return command;
  const hostId = state.jobs.get(command.jobId)?.data.current?.hostId;
  return { ...command, hostId: hostId ?? command.hostId };
}

/** A gap in a named request that is not seen. */
function withNextItem(command: EndpointCommand, state: EndpointState): EndpointCommand {
  if (command.kind !== 'submit' || command.key === null) return command;
  const accepted = state.keys.get(command.key.name)?.data.accepted ?? 0;
  return command.key.item > accepted ? renamed(command, { ...command.key, item: accepted }) : command;
}

function withKnownIds(command: EndpointCommand, state: EndpointState): EndpointCommand {
  if (command.kind !== 'submit' || command.key === null) return command;
  const firstId = state.keys.get(command.key.name)?.data.firstId ?? command.key.firstId;
  return renamed(command, { ...command.key, firstId });
}

function renamed(command: SubmitCommand, key: KeyUse): SubmitCommand {
  const jobs = command.jobs.map((wish, at) => ({ ...wish, jobId: itemJobId(key, key.item + at) }));
  return { ...command, key, jobs };
}

function uncharged(fact: LogFact, state: EndpointState): LogFact {
  if (fact.kind !== 'lost' || fact.next === null) return fact;
  return { ...fact, charged: state.jobs.get(fact.jobId)?.data.charged ?? 0 };
}

function unstarted(fact: LogFact, state: EndpointState): LogFact {
  const before = fact.kind === 'lost' ? state.jobs.get(fact.jobId)?.data : undefined;
  if (fact.kind !== 'lost' || before?.unstarted !== 2 || before.current?.isStarted === true) return fact;
  return { ...fact, charged: before.charged, unstarted: 3 };
}

function counting(fact: LogFact, change: number): LogFact {
  if (change > 0 && fact.kind === 'purged') return { ...fact, count: fact.count + change };
  return change < 0 && fact.kind === 'expired' ? { ...fact, count: fact.count + change } : fact;
}

function twice(decision: CommandDecision): CommandDecision {
  const end = decision.facts.find(({ kind }) => kind === 'finished' || kind === 'cancelled');
  return end === undefined ? decision : { ...decision, facts: [...decision.facts, end] };
}

function atFirstPlace(fact: LogFact, state: EndpointState): LogFact {
  const first = state.normal.ready.first ?? state.low.ready.first;
  if (fact.kind !== 'lost' || fact.next === null || first === undefined) return fact;
  return { ...fact, next: { ...fact.next, queuePlace: first.data.queuePlace } };
}

const withoutPurge = (fact: LogFact): LogFact =>
  fact.kind === 'totals' ? { ...fact, life: { ...fact.life, lastPurge: null } } : fact;

const withoutOutput = (fact: LogFact): LogFact =>
  fact.kind === 'carried' && fact.what === 'job' ? { ...fact, output: null } : fact;
