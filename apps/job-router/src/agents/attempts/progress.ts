import type { AttemptRef, ProgressRequest, ReportReply } from '@berth/contracts';
import type { HostId, Payload } from '@berth/domain';
import type { Blobs } from '@berth/payloads';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { proofOf, type AttemptOwners } from './attempt-owners.js';
import { isBesideLog, storeBesideLog, storedAs, type StoredOutput } from './inline-output.js';

export interface ProgressOptions {
  readonly owners: Pick<AttemptOwners, 'show' | 'findHeld'>;
  readonly blobs: Pick<Blobs, 'writePart'>;
  readonly clock: Clock;
  readonly random: Pick<Random, 'fraction'>;
  readonly logger: Logger;
}

/** The progress that a host has shown of one attempt. */
interface Shown {
  readonly hostId: HostId;
  readonly ref: AttemptRef;
  readonly output: Extract<Payload, { readonly kind: 'inline' }>;
  /** Null: it has not been needed yet. */
  stored: StoredOutput | null;
}

/** An attempt whose progress is being told: what comes meanwhile waits, and only the newest of it. */
interface Lane {
  next: Shown | null;
}

/** Owners take one progress a second of each job; a clock that differs must not make it much more. */
const PAUSE_MAX_MS = 1_000;
/** How often one progress is told that it came too soon. */
const TRIES_MAX = 5;
const LANES_MAX = 4_096;
const WAITING_MAX_BYTES = 64 * 1024 ** 2;
/** A reader of the one before must still find it while another is written: two in a row have the same name rarely. */
const BLOB_NAMES = 16;

type Told = Awaited<ReturnType<AttemptOwners['show']>>;

const RECORDED: ReportReply = { outcome: 'recorded' };

/**
 * Shows the progress of running attempts. Hosts do not wait for it and do not repeat it, since it is worth only what is
 * newer than what is shown.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #closed = new AbortController();
  #waitingBytes = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /** Attempts whose progress is being told. */
  get active(): number {
    return this.#lanes.size;
  }

  async show(hostId: HostId, { output, ...ref }: ProgressRequest): Promise<ReportReply> {
    if (output.kind !== 'inline') throw new Error('progress comes in its message');
    const shown = { hostId, ref, output, stored: null };
    const key = nameOf(ref);
    const known = this.#lanes.get(key);
    if (known !== undefined) {
      this.#wait(known, shown);
      return RECORDED;
    }
    // Progress that finds no lane is shown where the owner takes it at once, and else not at all.
    if (this.#lanes.size >= LANES_MAX) return replyOf(await this.#tell(shown));
    const lane: Lane = { next: null };
    this.#lanes.set(key, lane);
    return replyOf(await this.#begin(key, lane, shown));
  }

  /** Waiting progress is not shown any more. */
  close(): void {
    this.#closed.abort();
  }

  async #begin(key: string, lane: Lane, shown: Shown): Promise<Told> {
    try {
      const told = await this.#tell(shown);
      if (told.kind === 'later' && lane.next === null) this.#wait(lane, shown);
      void this.#goOn(key, lane, told);
      return told;
    } catch (error) {
      this.#end(key, lane);
      throw error;
    }
  }

  async #goOn(key: string, lane: Lane, before: Told): Promise<void> {
    try {
      let told = before;
      for (let late = 0; told.kind !== 'superseded' && late < TRIES_MAX; late = told.kind === 'later' ? late + 1 : 0) {
        if (lane.next === null || this.#closed.signal.aborted) break;
        await this.#pause(told);
        const shown = this.#takeNext(lane);
        if (shown === null) break;
        told = await this.#tell(shown);
        if (told.kind === 'later' && lane.next === null) this.#wait(lane, shown);
      }
    } catch (error) {
      this.#options.logger.debug('progress could not be shown', { attempt: key, error });
    } finally {
      this.#end(key, lane);
    }
  }

  /** Until the owner takes the next, as far as its clock and this one agree. */
  async #pause(told: Told): Promise<void> {
    const { clock } = this.#options;
    const waitMs = told.kind === 'later' ? told.atMs - clock.nowMs() : PAUSE_MAX_MS;
    await clock.sleep(Math.max(1, Math.min(PAUSE_MAX_MS, waitMs)), this.#closed.signal);
  }

  #wait(lane: Lane, shown: Shown): void {
    const freedBytes = bytesOf(lane.next);
    if (this.#waitingBytes - freedBytes + bytesOf(shown) > WAITING_MAX_BYTES) return;
    this.#takeNext(lane);
    this.#waitingBytes += bytesOf(shown);
    lane.next = shown;
  }

  #takeNext(lane: Lane): Shown | null {
    const { next } = lane;
    this.#waitingBytes -= bytesOf(next);
    lane.next = null;
    return next;
  }

  #end(key: string, lane: Lane): void {
    this.#takeNext(lane);
    this.#lanes.delete(key);
  }

  async #tell(shown: Shown): Promise<Told> {
    const { hostId, ref } = shown;
    shown.stored ??= await this.#store(shown);
    if (shown.stored === null) return { kind: 'superseded' };
    return this.#options.owners.show(ref.endpointId, { kind: 'progress', ...proofOf(hostId, ref), ...shown.stored });
  }

  /** Null: the attempt is over. */
  async #store({ hostId, output, ref }: Shown): Promise<StoredOutput | null> {
    const { blobs, clock, owners, random } = this.#options;
    if (!isBesideLog(output)) return storedAs(output);
    const held = await owners.findHeld(hostId, ref);
    if (held === null) return null;
    const name = `progress${ref.attempt}-${Math.floor(random.fraction() * BLOB_NAMES)}`;
    return storeBesideLog(blobs, output, { ...ref, name, createdAtMs: held.createdAtMs, nowMs: clock.nowMs() });
  }
}

const nameOf = ({ attempt, endpointId, jobId, token }: AttemptRef): string =>
  `${endpointId}/${jobId}/${attempt}/${token}`;

/** Progress that has to wait is shown by and by. */
const replyOf = ({ kind }: Told): ReportReply => (kind === 'superseded' ? { outcome: kind } : RECORDED);

const bytesOf = (shown: Shown | null): number => (shown === null ? 0 : 2 * shown.output.json.length);
