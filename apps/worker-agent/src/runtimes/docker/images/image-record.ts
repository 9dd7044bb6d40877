import { shortName } from '../../images/image-name.js';

/** What is remembered of an image that this agent has pulled: who may start it, and when it was used last. */
export interface ImageRecord {
  readonly digest: string;
  /** The name without tag: the same bytes in another repository are another image, for another registry lets others in. */
  readonly repository: string;
  /** The registry gives it to anybody. */
  readonly isPublic: boolean;
  /** Accounts whose own credentials the registry has accepted for it, and when (Unix ms). */
  readonly acceptedAtMs: Readonly<Record<string, number>>;
  readonly lastUsedAtMs: number;
}

/** The account that wants to start an image, and with what. */
export interface ImageUse {
  /** Null: nobody's in particular, such as a tool of the operator. */
  readonly accountId: string | null;
  readonly hasCredentials: boolean;
}

/** An account that was let in once is asked for again after this long: a credential may be taken back where we do not see it. */
export const ACCEPTED_FOR_MS = 24 * 60 * 60_000;
const RECORDS_MAX = 10_000;
const ACCOUNTS_MAX = 1_000;

/**
 * Whether an image that is here may be started without its registry being asked. One that this agent did not pull is the
 * operator's gift to all: `unknown` (a tag that a private registry gave to somebody else has a record).
 */
export function imageAccess(record: ImageRecord | null, use: ImageUse, nowMs: number): 'allowed' | 'ask' | 'unknown' {
  if (record === null) return 'unknown';
  if (record.isPublic) return 'allowed';
  const atMs = use.accountId === null ? undefined : record.acceptedAtMs[use.accountId];
  return atMs !== undefined && nowMs - atMs < ACCEPTED_FOR_MS ? 'allowed' : 'ask';
}

/** The record after a registry has given the image, or told that it would. */
export function withAccepted(
  record: ImageRecord | null,
  { accountId, digest, hasCredentials, repository }: ImageUse & Pick<ImageRecord, 'digest' | 'repository'>,
  nowMs: number,
): ImageRecord {
  const { acceptedAtMs = {}, isPublic = false } = record ?? {};
  const kept = Object.entries(acceptedAtMs)
    .filter(([, atMs]) => nowMs - atMs < ACCEPTED_FOR_MS)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, ACCOUNTS_MAX - 1);
  const accepted = accountId === null || !hasCredentials ? [] : [[accountId, nowMs] as const];
  return {
    digest,
    repository,
    isPublic: isPublic || !hasCredentials,
    acceptedAtMs: Object.fromEntries([...kept, ...accepted]),
    lastUsedAtMs: nowMs,
  };
}

/** The records that are kept: the oldest use goes first. */
export const keptRecords = (records: readonly ImageRecord[]): readonly ImageRecord[] =>
  records.length <= RECORDS_MAX
    ? records
    : records.toSorted((a, b) => b.lastUsedAtMs - a.lastUsedAtMs).slice(0, RECORDS_MAX);

/** The same for all names that stand for one repository: `shortName` of the name by digest. */
export const recordKey = ({ digest, repository }: Pick<ImageRecord, 'digest' | 'repository'>): string =>
  shortName(`${repository}@${digest}`);
