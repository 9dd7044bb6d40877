import type { Payload } from '../job/index.js';
import type { LogReference } from './carrying/carry.js';
import type { CarriedFact, LogFact } from './facts.js';
import type { JobBody } from './job-data.js';

/** The body that a reference means, among the facts of its batch; null: it is not there. */
export function findBody(facts: readonly LogFact[], { jobId }: LogReference): JobBody | null {
  const bodies = facts.map((fact) => {
    if (fact.kind === 'submitted' || fact.kind === 'born-taken') return fact.job.jobId === jobId ? fact.job.body : null;
    return fact.kind === 'carried' && carriedOf(fact)?.jobId === jobId && 'body' in fact ? fact.body : null;
  });
  return bodies.find((body) => body !== null) ?? null;
}

/** The output that a reference means: of several words on it in one batch the last one. */
export function findOutput(facts: readonly LogFact[], { attempt, jobId }: LogReference): Payload | null {
  const outputs = facts.map((fact) => {
    const told = fact.kind === 'carried' ? carriedOf(fact) : 'output' in fact ? fact : null;
    return told?.jobId === jobId && told.attempt === attempt && 'output' in fact ? fact.output : null;
  });
  return outputs.findLast((output) => output !== null) ?? null;
}

function carriedOf(fact: CarriedFact): Pick<LogReference, 'jobId' | 'attempt'> | null {
  switch (fact.what) {
    case 'job':
      return fact.job;
    case 'delivery':
      return fact.delivery;
    case 'key':
      return null;
    default:
      return fact satisfies never;
  }
}
