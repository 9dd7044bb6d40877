import { readHistoryFacts, type LogPosition } from '@berth/contracts';
import type { EndpointFacts } from '@berth/domain';
import { decodeLines } from '@berth/endpoint-log';
import { askLeader } from '../broker/ask-leader.js';
import type { Broker } from '../broker/broker.js';
import { readStreamHead, type StreamHead } from '../broker/stream-head.js';
import { readShardPage, type ShardEntry } from '../endpoint-log/read-log-page.js';
import { logFilter, logStream, parseLogSubject } from '../topology/subjects.js';

/** A batch out of which no history can be made. */
interface UnreadableFacts {
  readonly sequence: number;
  readonly unreadable: string;
}

export interface ShardLogPage {
  /** The last batch of the page, or whatever is behind a gap: the next page begins there. */
  readonly through: LogPosition;
  /** In the order of the shard. */
  readonly batches: readonly EndpointFacts[];
  readonly unreadable: readonly UnreadableFacts[];
  /** Batches between the place and `through` that are not there any more. */
  readonly missed: number;
  /** Why the page does not go on at the place: the stream is another one, or ends before it. */
  readonly startsOver: 'new-stream' | 'lost-tail' | null;
  /** A replica had no more to tell. */
  readonly isLast: boolean;
  /** And neither had the leader when it was asked, before the page. */
  readonly isComplete: boolean;
}

/** Where logs are counted that cannot be read. */
const PLACE = 'endpoint log';

/**
 * The logs of a shard as the job history reads them, page by page, for a reader that keeps its own place. It asks and is not
 * sent to: while its database is away nothing piles up.
 */
export class ShardLogSource {
  readonly #broker: Broker;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /**
   * The entries that follow a place; null as a place: all that there are. Null as an answer: there is no such stream
   * yet.
   *
   * @throws PlatformError `service-unavailable`
   */
  async read(shard: number, after: LogPosition | null): Promise<ShardLogPage | null> {
    const head = await readStreamHead(this.#broker, logStream(shard));
    if (head === null) return null;
    const { sequence, startsOver } = startOf(head, after);
    if (head.lastSequence === sequence) return emptyPage(head, { startsOver, missed: 0, isComplete: true });
    const query = { stream: logStream(shard), subject: logFilter(shard), after: sequence };
    const { entries, isLast } = await readShardPage(this.#broker, query);
    const last = entries.at(-1)?.entry.sequence;
    if (last === undefined) return this.#pageOfNone(shard, { head, sequence, startsOver });
    return {
      ...this.#read(entries),
      through: { streamCreated: head.created, sequence: last },
      missed: last - sequence - entries.length,
      startsOver,
      isLast,
      isComplete: isLast && last >= head.lastSequence,
    };
  }

  /** Either everything that the leader spoke of was purged, or the replica that answered does not have it yet. */
  async #pageOfNone(
    shard: number,
    { head, sequence, startsOver }: Pick<ShardLogPage, 'startsOver'> & { head: StreamHead; sequence: number },
  ): Promise<ShardLogPage> {
    const question = { next_by_subj: logFilter(shard), seq: sequence + 1 };
    const next = await askLeader(this.#broker, logStream(shard), question);
    if (next === null) {
      return emptyPage(head, { startsOver, missed: head.lastSequence - sequence, isComplete: true });
    }
    return emptyPage({ ...head, lastSequence: sequence }, { startsOver, missed: 0, isComplete: false });
  }

  #read(entries: readonly ShardEntry[]): Pick<ShardLogPage, 'batches' | 'unreadable'> {
    const batches: EndpointFacts[] = [];
    const unreadable: UnreadableFacts[] = [];
    for (const each of entries) {
      const facts = readFacts(each);
      if ('facts' in facts) {
        batches.push(facts);
        continue;
      }
      unreadable.push(facts);
      const key = `${each.subject} ${facts.sequence}`;
      this.#broker.noteUnreadable({ place: PLACE, key, reason: facts.unreadable });
    }
    return { batches, unreadable };
  }
}

/** A stream that was made anew is read from its beginning, and one that lost its end from where it ends. */
function startOf(
  { created, lastSequence }: StreamHead,
  after: LogPosition | null,
): { readonly sequence: number; readonly startsOver: ShardLogPage['startsOver'] } {
  if (after === null) return { sequence: 0, startsOver: null };
  if (after.streamCreated !== created) return { sequence: 0, startsOver: 'new-stream' };
  if (after.sequence > lastSequence) return { sequence: lastSequence, startsOver: 'lost-tail' };
  return { sequence: after.sequence, startsOver: null };
}

const emptyPage = (
  { created, lastSequence }: StreamHead,
  { isComplete, missed, startsOver }: Pick<ShardLogPage, 'startsOver' | 'missed' | 'isComplete'>,
): ShardLogPage => ({
  through: { streamCreated: created, sequence: lastSequence },
  batches: [],
  unreadable: [],
  missed,
  startsOver,
  isLast: true,
  isComplete,
});

function readFacts({ entry, subject }: ShardEntry): EndpointFacts | UnreadableFacts {
  const { sequence } = entry;
  if ('unreadable' in entry) return entry;
  const endpointId = parseLogSubject(subject);
  if (endpointId === null) return { sequence, unreadable: 'its subject names no endpoint of the shard' };
  try {
    const facts = readHistoryFacts(decodeLines(entry.facts));
    if (facts.kind === 'unreadable') return { sequence, unreadable: facts.reason };
    return { endpointId, facts: facts.value };
  } catch {
    // Without the error's own text, which quotes what it stumbled over.
    return { sequence, unreadable: 'a line of it is no fact' };
  }
}
