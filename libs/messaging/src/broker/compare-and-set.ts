import type { WriteOutcome } from '@berth/jobs';
import type { Broker } from './broker.js';
import { publishMessage, type Publication } from './publish-message.js';

/** A version that is written over exactly the one that is expected. */
export type Version = Publication & Required<Pick<Publication, 'expectedSequence' | 'ttlMs'>>;

/**
 * Writes once; only reading back tells what became of an `unknown` write.
 *
 * @throws PlatformError `service-unavailable` when the stream is full or the broker says that it cannot now
 */
export async function compareAndSet(broker: Broker, version: Version): Promise<WriteOutcome> {
  const outcome = await publishMessage(broker, version);
  switch (outcome.kind) {
    case 'stored':
      return { kind: 'written', sequence: outcome.sequence };
    case 'conflict':
      return { kind: 'conflict' };
    case 'unknown':
      return { kind: 'unknown' };
    case 'occupied':
      throw new Error(`the stream of ${version.subject} discards per subject: not the topology we made`);
  }
}
