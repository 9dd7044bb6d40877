import type { AccountId, DeliveryKey } from '@berth/domain';

/** A delivery that could be tried, or is. */
export interface Candidate extends DeliveryKey {
  readonly accountId: AccountId;
  /** Host and port of the receiver. */
  readonly host: string;
  readonly bytes: number;
}

/** Requests under way at one time in this router. */
export interface SendLimits {
  readonly total: number;
  readonly perAccount: number;
  /** Of one account to one host and port. */
  readonly perHost: number;
  /** With a large body, which lies in memory whole. */
  readonly large: number;
}

export const SEND_LIMITS: SendLimits = { total: 200, perAccount: 50, perHost: 8, large: 2 };

/** Above it a body counts as large. */
const LARGE_BYTES = 1024 ** 2;

export const candidateName = ({ attempt, endpointId, jobId }: DeliveryKey): string =>
  `${endpointId}/${jobId}/${attempt}`;

/**
 * The tries that may be begun beside those under way, in the order given. A receiver that is slow holds up only its
 * own, and an account with many of them only itself.
 */
export function chooseTries(
  candidates: Iterable<Candidate>,
  underWay: ReadonlyMap<string, Candidate>,
  limits: SendLimits,
): readonly Candidate[] {
  const room = roomBeside(underWay, limits);
  const chosen: Candidate[] = [];
  for (const candidate of candidates) {
    if (underWay.has(candidateName(candidate)) || !room.has(candidate)) continue;
    room.take(candidate);
    chosen.push(candidate);
  }
  return chosen;
}

/** Whether one of them waits for a place that others have, and for nothing of its own account. */
export function waitsForOthers(
  candidates: readonly Candidate[],
  underWay: ReadonlyMap<string, Candidate>,
  limits: SendLimits,
): boolean {
  const room = roomBeside(underWay, limits);
  return candidates.some(
    (each) => !underWay.has(candidateName(each)) && room.isWithinShare(each) && !room.isWithinAll(each),
  );
}

function roomBeside(underWay: ReadonlyMap<string, Candidate>, limits: SendLimits): Room {
  const room = new Room(limits);
  for (const candidate of underWay.values()) room.take(candidate);
  return room;
}

class Room {
  readonly #limits: SendLimits;
  readonly #perAccount = new Map<string, number>();
  readonly #perHost = new Map<string, number>();
  #total = 0;
  #large = 0;

  constructor(limits: SendLimits) {
    this.#limits = limits;
  }

  has(candidate: Candidate): boolean {
    return this.isWithinShare(candidate) && this.isWithinAll(candidate);
  }

  /** What its account, and its account at this receiver, may have. */
  isWithinShare(candidate: Candidate): boolean {
    const { perAccount, perHost } = this.#limits;
    return (
      (this.#perAccount.get(candidate.accountId) ?? 0) < perAccount &&
      (this.#perHost.get(lineOf(candidate)) ?? 0) < perHost
    );
  }

  /** What all accounts together may have. */
  isWithinAll(candidate: Candidate): boolean {
    const { large, total } = this.#limits;
    return this.#total < total && (!isLarge(candidate) || this.#large < large);
  }

  take(candidate: Candidate): void {
    this.#total += 1;
    this.#large += isLarge(candidate) ? 1 : 0;
    countOne(this.#perAccount, candidate.accountId);
    countOne(this.#perHost, lineOf(candidate));
  }
}

const isLarge = ({ bytes }: Candidate): boolean => bytes > LARGE_BYTES;

const lineOf = ({ accountId, host }: Candidate): string => `${accountId} ${host}`;

const countOne = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};
