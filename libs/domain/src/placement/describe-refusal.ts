import type { HostId } from '../ids.js';
import { FILTERS, type FilterReason, type Fit } from './filters.js';
import type { HostLoad } from './free-resources.js';

type HostRejection = 'host-not-joined' | FilterReason;

interface RejectedHost {
  readonly id: HostId;
  readonly reason: HostRejection;
  /** A sentence without its full stop. */
  readonly detail: string;
}

type UnplacedReason =
  | HostRejection
  | 'no-hosts'
  | 'no-eligible-type'
  /** A limit of the account forbids one more, whatever room there is. */
  | 'account-quota';

export interface Unplaced {
  readonly kind: 'unplaced';
  /** What the host that came nearest lacks; or that there is no host, no kind of worker to look for, or no leave. */
  readonly reason: UnplacedReason;
  readonly detail: string;
  /** Every host that was looked at, in the order of their ids. */
  readonly hosts: readonly RejectedHost[];
}

/**
 * Why no host takes the worker. Made only of what was refused: the sentences of some hundred hosts take longer than the
 * search.
 *
 * @param fitsOf the ways to put it on a host, each of which fails; none where the host has not joined
 */
export function describeRefusal(hosts: readonly HostLoad[], fitsOf: (load: HostLoad) => readonly Fit[]): Unplaced {
  const inOrder = hosts.toSorted((a, b) => compareText(a.host.id, b.host.id));
  const rejections = inOrder.flatMap((load) => rejectionOf(load.host.id, fitsOf(load)));
  const [nearest] = rejections.toSorted((a, b) => b.nearness - a.nearness);
  if (nearest === undefined) return unplaced('no-hosts', 'there is no host');
  const looked = hosts.length === 1 ? 'one host was' : `${hosts.length} hosts were`;
  const detail = `${looked} looked at; ${nearest.host.id} came nearest: ${nearest.host.detail}`;
  return unplaced(
    nearest.host.reason,
    detail,
    rejections.map(({ host }) => host),
  );
}

export const unplaced = (reason: UnplacedReason, detail: string, hosts: readonly RejectedHost[] = []): Unplaced => ({
  kind: 'unplaced',
  reason,
  detail,
  hosts,
});

interface Rejection {
  readonly host: RejectedHost;
  /** How many filters were passed. */
  readonly nearness: number;
}

/** What the host lacks for the option that came nearest. */
function rejectionOf(id: HostId, fits: readonly Fit[]): readonly Rejection[] {
  const checked = fits.map((fit) => ({ fit, failedAt: FILTERS.findIndex((filter) => !filter.passes(fit)) }));
  const [nearest] = checked.toSorted((a, b) => b.failedAt - a.failedAt);
  if (nearest === undefined) return [notJoined(id)];
  const filter = FILTERS[nearest.failedAt];
  if (filter === undefined) return [];
  return [{ host: { id, reason: filter.reason, detail: filter.explain(nearest.fit) }, nearness: nearest.failedAt }];
}

const notJoined = (id: HostId): Rejection => ({
  host: { id, reason: 'host-not-joined', detail: 'the host has not joined yet' },
  nearness: -1,
});

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
