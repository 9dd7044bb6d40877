import { findBody, findOutput, type EndpointId, type LogFact, type LogReader, type LogReference } from '@berth/domain';
import { inParallel } from '@berth/lifecycle';
import { decodeLines } from '../batch/fact-lines.js';
import type { LogBroker } from '../ports/log-broker.port.js';

const READS_MAX = 16;

/** The facts of one batch of an endpoint; none where it is not in the log any more. */
export type ReadBatch = (sequence: number) => Promise<readonly LogFact[]>;

/**
 * Reads payloads where they lie in the log. One that is not where it was has been carried since, and is not found.
 *
 * @throws what `read` throws
 */
export async function readReferences(read: ReadBatch, references: readonly LogReference[]): Promise<LogReader> {
  const sequences = [...new Set(references.map(({ sequence }) => sequence))];
  const batches = new Map(
    await inParallel(sequences, READS_MAX, async (sequence) => [sequence, await read(sequence)] as const),
  );
  const factsAt = ({ sequence }: LogReference): readonly LogFact[] => batches.get(sequence) ?? [];
  return {
    body: (reference) => findBody(factsAt(reference), reference) ?? undefined,
    output: (reference) => findOutput(factsAt(reference), reference) ?? undefined,
  };
}

/**
 * As the shard's leader has it now.
 *
 * @throws PlatformError `service-unavailable` when the broker does not answer
 */
export const batchesOf =
  (broker: Pick<LogBroker, 'readNext'>, endpointId: EndpointId): ReadBatch =>
  async (sequence) => {
    const entry = await broker.readNext(endpointId, sequence - 1);
    return entry?.sequence === sequence && 'facts' in entry ? decodeLines(entry.facts) : [];
  };
