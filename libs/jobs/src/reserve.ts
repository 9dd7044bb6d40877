import { PlatformError, type Job, type JobId } from '@berth/domain';
import { putTicket } from './hints.js';
import type { JobStore } from './job-store.js';
import type { Reservation, ReservationKey } from './ports/reservations.port.js';
import { storeJob, type Submission } from './submit-job.js';

/** A request that its caller may send again, and what would tell it from another one under the same key. */
interface KeyedRequest {
  readonly key: ReservationKey;
  /** Id of the first job if the request is new. */
  readonly firstId: JobId;
  readonly size: number;
  readonly fingerprint: string;
  readonly isSame: (fingerprint: string) => boolean;
}

export interface Reserved {
  readonly key: ReservationKey;
  readonly reservation: Reservation;
  /** True: the request came before. */
  readonly isReplayed: boolean;
}

/** One job of a request. */
export interface ReservedItem {
  readonly item: number;
  /** The id is needed for what is sealed for this job alone. */
  readonly submissionOf: (id: JobId) => Omit<Submission, 'reservation'>;
}

export type ItemOutcome =
  { readonly kind: 'accepted'; readonly id: JobId } | { readonly kind: 'failed'; readonly error: unknown };

/** How long a key is remembered (decisions, "Idempotency-Key"). */
export const RESERVATION_MS = 24 * 3_600_000;

/** A request that came before is left to whoever got it first for so long; then it is taken to have died. */
const TAKE_OVER_AFTER_MS = 2_000;
const LOOK_DELAYS_MS = [25, 50, 100, 200, 400, 800, 800];

const ROUNDS_MAX = 24;
const ITEM_DIGITS = 4;
const HEX = 16;

/**
 * The id of one job of a reservation: always the same, so that a job that is made again is the same job. Four digits tell
 * apart many more than a request may ask for.
 */
export const reservedJobId = ({ firstId, size }: Pick<Reservation, 'firstId' | 'size'>, item: number): JobId =>
  size === 1 ? firstId : (`${firstId.slice(0, -ITEM_DIGITS)}${item.toString(HEX).padStart(ITEM_DIGITS, '0')}` as JobId);

/**
 * The first write of a request with a key: which jobs it stands for. Of any number of equal requests, wherever they
 * arrive, one creates the reservation and all others find it.
 *
 * @throws PlatformError `idempotency-key-reused`, `service-unavailable`
 */
export async function reserve(store: JobStore, request: KeyedRequest): Promise<Reserved> {
  const { key, firstId, size, fingerprint } = request;
  const missing = Array.from({ length: size }, (_, item) => item);
  const made: Reservation = { firstId, size, missing, fingerprint, createdAtMs: store.clock.nowMs() };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const outcome = await store.reservations.create(key, made, RESERVATION_MS);
    if (outcome.kind === 'written') return { key, reservation: made, isReplayed: false };
    const stored = await store.reservations.read(key);
    if (stored === null) continue;
    if (stored.reservation.firstId === firstId) return { key, reservation: stored.reservation, isReplayed: false };
    if (!request.isSame(stored.reservation.fingerprint)) {
      throw new PlatformError('idempotency-key-reused', 'This Idempotency-Key was used for another request.');
    }
    return { key, reservation: await settled(store, key, stored.reservation), isReplayed: true };
  }
  throw unsettled();
}

/** The first of several equal requests is most likely still at it, and would only be disturbed by the others' help. */
async function settled(store: JobStore, key: ReservationKey, found: Reservation): Promise<Reservation> {
  let reservation = found;
  for (const delayMs of LOOK_DELAYS_MS) {
    const isYoung = store.clock.nowMs() - reservation.createdAtMs < TAKE_OVER_AFTER_MS;
    if (reservation.missing.length === 0 || !isYoung) break;
    await store.clock.sleep(delayMs);
    reservation = (await store.reservations.read(key))?.reservation ?? reservation;
  }
  return reservation;
}

/**
 * Accepts jobs of a reservation: records, then the reservation says that they are stored, then the tickets.
 *
 * A job runs by its ticket only, so one that ran is known to be stored for as long as the reservation is: whoever sends
 * the request again makes what is missing, and nothing that has been.
 *
 * @throws PlatformError `service-unavailable` when the reservation could not be written; the jobs may be accepted all the
 * same, and asking again tells
 */
export async function acceptReserved(
  store: JobStore,
  { key, reservation, isReplayed }: Reserved,
  items: readonly ReservedItem[],
): Promise<readonly ItemOutcome[]> {
  const missing = new Set(reservation.missing);
  const made = await Promise.allSettled(
    items.map(async ({ item, submissionOf }): Promise<Job | null> => {
      if (!missing.has(item)) return null;
      const id = reservedJobId(reservation, item);
      const present = isReplayed ? await store.records.read({ endpointId: key.endpointId, jobId: id }) : null;
      const submission = { ...submissionOf(id), reservation: { name: key.name, item } };
      return present?.job ?? (await storeJob(store, id, submission));
    }),
  );
  const stored = items.filter((_, at) => made[at]?.status === 'fulfilled').map(({ item }) => item);
  await confirmReserved(store, key, stored);
  const jobs = made.flatMap((outcome) => (outcome.status === 'fulfilled' ? (outcome.value ?? []) : []));
  await Promise.all(jobs.map((job) => putTicket(store, job)));
  return made.map((outcome, at) =>
    outcome.status === 'rejected'
      ? { kind: 'failed', error: outcome.reason as unknown }
      : { kind: 'accepted', id: reservedJobId(reservation, items[at]?.item ?? 0) },
  );
}

/**
 * Notes that the records of these items are stored. A reservation that is gone needs no note: nobody can ask for it.
 *
 * @throws PlatformError `service-unavailable`
 */
async function confirmReserved(
  store: Pick<JobStore, 'reservations' | 'clock'>,
  key: ReservationKey,
  items: readonly number[],
): Promise<void> {
  const stored = new Set(items);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const found = await store.reservations.read(key);
    if (found === null) return;
    const { reservation, sequence } = found;
    const missing = reservation.missing.filter((item) => !stored.has(item));
    if (missing.length === reservation.missing.length) return;
    const leftMs = Math.max(1, reservation.createdAtMs + RESERVATION_MS - store.clock.nowMs());
    const next = { reservation: { ...reservation, missing }, sequence };
    const outcome = await store.reservations.replace(key, next, leftMs);
    if (outcome.kind === 'written') return;
  }
  throw unsettled();
}

/** Puts the ticket of a job that waits without one, as its acceptance would have. False: it is still missing. */
export async function mendTicket(store: JobStore, job: Job): Promise<boolean> {
  if (job.reservation !== null && job.attempt === 1) {
    const { name, item } = job.reservation;
    await confirmReserved(store, { endpointId: job.endpointId, name }, [item]);
  }
  return putTicket(store, job);
}

const unsettled = (): PlatformError =>
  new PlatformError('service-unavailable', 'The request could not be noted under its Idempotency-Key; send it again.', {
    retryAfterSeconds: 1,
  });
