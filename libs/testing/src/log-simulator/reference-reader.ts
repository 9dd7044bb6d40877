import type { EndpointId, JobBody, LogFact, LogReader, LogReference, Payload } from '@berth/domain';
import type { LogBroker } from '@berth/endpoint-log';

const nameOf = ({ attempt, jobId, part, sequence }: LogReference): string => `${part} ${jobId} ${attempt} ${sequence}`;

/** Reads payloads that are not kept in memory where they lie in the log. */
export class ReferenceReader implements LogReader {
  readonly #broker: LogBroker;
  readonly #endpointId: EndpointId;
  readonly #bodies = new Map<string, JobBody>();
  readonly #outputs = new Map<string, Payload>();

  constructor(broker: LogBroker, endpointId: EndpointId) {
    this.#broker = broker;
    this.#endpointId = endpointId;
  }

  readonly body = (reference: LogReference): JobBody | undefined => this.#bodies.get(nameOf(reference));

  readonly output = (reference: LogReference): Payload | undefined => this.#outputs.get(nameOf(reference));

  /** What is not where it was has been carried: it stays unread, and is asked for anew. */
  async readAll(references: readonly LogReference[]): Promise<void> {
    for (const sequence of new Set(references.map((each) => each.sequence))) {
      const entry = await this.#broker.readNext(this.#endpointId, sequence - 1);
      if (entry?.sequence !== sequence || !('facts' in entry)) continue;
      const facts = factsOf(entry.facts);
      for (const reference of references) if (reference.sequence === sequence) this.#keep(reference, facts);
    }
  }

  #keep(reference: LogReference, facts: readonly LogFact[]): void {
    const own = facts.filter((fact) => jobIdOf(fact) === reference.jobId);
    const body = own.map(bodyOf).findLast((found) => found !== null);
    const output = own.map(outputOf).findLast((found) => found !== null);
    if (reference.part === 'body' && body != null) this.#bodies.set(nameOf(reference), body);
    if (reference.part === 'output' && output != null) this.#outputs.set(nameOf(reference), output);
  }
}

const decoder = new TextDecoder();

export const factsOf = (facts: Uint8Array): readonly LogFact[] =>
  decoder
    .decode(facts)
    .split('\n')
    .map((line) => JSON.parse(line) as LogFact);

function jobIdOf(fact: LogFact): string | null {
  if (fact.kind === 'submitted' || fact.kind === 'born-taken') return fact.job.jobId;
  if (fact.kind !== 'carried') return 'jobId' in fact ? fact.jobId : null;
  if (fact.what === 'key') return null;
  return fact.what === 'job' ? fact.job.jobId : fact.delivery.jobId;
}

function bodyOf(fact: LogFact): JobBody | null {
  if (fact.kind === 'submitted' || fact.kind === 'born-taken') return fact.job.body;
  return fact.kind === 'carried' && fact.what !== 'key' ? fact.body : null;
}

const outputOf = (fact: LogFact): Payload | null => ('output' in fact ? fact.output : null);
