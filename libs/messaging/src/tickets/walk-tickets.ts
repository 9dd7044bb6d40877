import type { Broker } from '../broker/broker.js';
import { readDirect, readPage, type StoredMessage } from '../broker/read-message.js';

export interface TicketWalk {
  readonly stream: string;
  /** Subjects of one endpoint and priority, ending in `.>`. */
  readonly filter: string;
  readonly afterSequence: number;
  readonly limit: number;
}

/** A page as large as this costs the broker one to three milliseconds, one below the minimum saves nothing. */
const PAGE_MAX = 256;
const PAGE_MIN = 32;
/** A page of which less than this share is the endpoint's own was not worth its size. */
const DENSE_SHARE = 0.25;

/** `find`: one filtered message, then pages. `page`: everything from here on. `hop`: filtered messages one by one. */
type Stride = 'find' | 'page' | 'hop';

/**
 * The endpoint's tickets in order, at a cost that does not grow with the depth of its queue.
 *
 * A batch filtered by subject would be simpler, but the broker counts everything that is still pending before it sends
 * the first message: 56 ms for any batch out of 40,000 tickets, 150 ms out of 200,000, while the stream is locked. So
 * this asks for one filtered message (0.2 ms), and where the endpoint owns the neighbourhood it reads on in pages
 * without a filter (0.8 ms for 64) and drops what is not its own.
 */
export async function walkTickets(broker: Broker, walk: TicketWalk): Promise<readonly StoredMessage[]> {
  const found: StoredMessage[] = [];
  let from = walk.afterSequence + 1;
  // With a cursor the endpoint has just been read from, so it probably goes on right there.
  let stride: Stride = walk.afterSequence > 0 ? 'page' : 'find';
  while (found.length < walk.limit) {
    if (stride === 'page') {
      const page = await readOwn(broker, walk, { from, wanted: walk.limit - found.length });
      found.push(...page.own);
      if (page.isLast) break;
      from = page.from;
      stride = page.isDense ? 'page' : 'hop';
    } else {
      const next = await readDirect(broker, walk.stream, { next: walk.filter, sequence: from });
      if (next === null) break;
      found.push(next);
      from = next.sequence + 1;
      stride = stride === 'find' ? 'page' : 'hop';
    }
  }
  return found.slice(0, walk.limit);
}

interface OwnPage {
  readonly own: readonly StoredMessage[];
  /** Where to go on. */
  readonly from: number;
  readonly isLast: boolean;
  readonly isDense: boolean;
}

async function readOwn(
  broker: Broker,
  { stream, filter }: TicketWalk,
  { from, wanted }: { readonly from: number; readonly wanted: number },
): Promise<OwnPage> {
  const batch = Math.min(PAGE_MAX, Math.max(PAGE_MIN, wanted));
  const { messages, isLast } = await readPage(broker, stream, { from, batch });
  const prefix = filter.slice(0, -1);
  const own = messages.filter(({ subject }) => subject.startsWith(prefix));
  return {
    own,
    from: (messages.at(-1)?.sequence ?? from) + 1,
    isLast: isLast || messages.length === 0,
    isDense: own.length >= messages.length * DENSE_SHARE,
  };
}
