import type { EndpointCommand, LogFact } from '@berth/domain';
import { decodeLines, type AppendOutcome, type LogBatch, type LogBroker } from '@berth/endpoint-log';
import type { Doctor } from '../src/log-simulator/doctor.js';
import { lookOf, NOBODY } from '../src/log-simulator/log-witness.js';

const encoder = new TextEncoder();

/** The same broker, with some of its words replaced. */
const changed = (broker: LogBroker, change: Partial<LogBroker>): LogBroker => ({
  append: change.append ?? ((batch) => broker.append(batch)),
  readNext: change.readNext ?? ((...args) => broker.readNext(...args)),
  read: (...args) => broker.read(...args),
  purge: (...args) => broker.purge(...args),
  heads: (...args) => broker.heads(...args),
});

async function newestOf(broker: LogBroker, { endpointId, after }: LogBatch): Promise<number> {
  let newest = after;
  for await (const { sequence } of broker.read(endpointId, 0)) newest = Math.max(newest, sequence);
  return newest;
}

async function takenForSuccess(broker: LogBroker, batch: LogBatch): Promise<AppendOutcome> {
  const outcome = await broker.append(batch);
  if (outcome.kind !== 'conflict') return outcome;
  return { kind: 'stored', sequence: await newestOf(broker, batch).catch(() => batch.after + 1) };
}

async function sentAnew(broker: LogBroker, batch: LogBatch): Promise<AppendOutcome> {
  const outcome = await broker.append(batch);
  if (outcome.kind !== 'conflict' && outcome.kind !== 'unknown') return outcome;
  return broker.append({ ...batch, after: await newestOf(broker, batch).catch(() => batch.after) });
}

const rewriting = (rewrite: (facts: readonly LogFact[]) => readonly LogFact[]): Doctor => ({
  broker: (broker) =>
    changed(broker, {
      append: (batch) => {
        const facts = rewrite(decodeLines(batch.facts));
        const text = facts.map((fact) => JSON.stringify(fact)).join('\n');
        return broker.append({ ...batch, facts: encoder.encode(text) });
      },
    }),
});

function oneTooFew(facts: readonly LogFact[]): readonly LogFact[] {
  const at = facts.findIndex((fact) => fact.kind === 'carried');
  return facts.filter((_, index) => index !== at);
}

const uncharged = (fact: LogFact): LogFact =>
  fact.kind === 'lost' && fact.next !== null && fact.charged > 0 ? { ...fact, charged: fact.charged - 1 } : fact;

let takes = 0;

function withoutTakeId(command: EndpointCommand): EndpointCommand {
  if (command.kind !== 'take') return command;
  return { ...command, wishes: command.wishes.map((wish) => ({ ...wish, takeId: `other-${(takes += 1)}` })) };
}

/** Faults that the rooms of the log might have; a change that brings one in must be told of it. */
export const LOG_DOCTORS: Readonly<Record<string, Doctor>> = {
  'no compare-and-set': { comparesNothing: true },
  'an owner that decides without being sure that it owns': { isCareless: true },
  'a reply before the commit': {
    ask: (log, question, told) => {
      if (question.kind !== 'command' || question.command.kind !== 'submit') return false;
      const { command } = question;
      log.perform(command, () => undefined);
      log.read(
        ({ jobs }) => {
          const jobIds = command.jobs.map(({ jobId }) => jobId).filter((jobId) => jobs.has(jobId));
          if (jobIds.length > 0) told({ kind: 'settled', answer: { kind: 'accepted', jobIds, isReplayed: false } });
        },
        () => undefined,
      );
      return true;
    },
  },
  'a read before the commit': {
    ask: (log, question, told) => {
      if (question.kind !== 'status') return false;
      log.read(
        ({ jobs }) => {
          const data = [...jobs.values()].find((job) => job.data.jobId === question.jobId)?.data;
          told({ kind: 'settled', answer: { kind: 'status', look: data === undefined ? NOBODY : lookOf(data) } });
        },
        () => undefined,
      );
      return true;
    },
  },
  'a conflict that is taken for a loss': {
    broker: (broker) =>
      changed(broker, {
        readNext: async (...args) => {
          const next = await broker.readNext(...args);
          return next !== null && 'batchId' in next ? { ...next, batchId: 'somebody-else' } : next;
        },
      }),
  },
  'a conflict that is taken for a success': {
    broker: (broker) => changed(broker, { append: (batch) => takenForSuccess(broker, batch) }),
  },
  'an append that is given up, and sent with another expectation': {
    broker: (broker) => changed(broker, { append: (batch) => sentAnew(broker, batch) }),
  },
  'one job too few carried': rewriting(oneTooFew),
  'a purge past what is covered': { purgeThrough: (covers, last) => Math.min(covers + 3, last - 1) },
  'a take without its takeId': { command: withoutTakeId },
  'an attempt that had started and is lost without a charge': rewriting((facts) => facts.map(uncharged)),
  'a start that is never written': rewriting((facts) => {
    const kept = facts.filter(({ kind }) => kind !== 'started');
    return kept.length === 0 ? facts : kept;
  }),
  'leases that are not renewed at a takeover': {
    opened: (log) => {
      log.read(
        ({ running }) => {
          for (const job of [...running.values()]) {
            job.leaseUntilMs = (job.data.current?.startedAtMs ?? 0) + 30_000;
            running.put(job);
          }
        },
        () => undefined,
      );
    },
  },
};
