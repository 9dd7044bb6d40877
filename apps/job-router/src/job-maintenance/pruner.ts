import type { EndpointId } from '@berth/domain';
import { cancel, readJob, type JobStore } from '@berth/jobs';
import type { JobSighting, JobView } from '../job-view/job-view.service.js';
import { findOrphans } from './find-orphans.js';
import { attemptName } from './attempt-name.js';
import type {
  Attachment,
  DeletedEndpoints,
  PendingDeliveries,
  StoreSurvey,
  WaitingTicket,
} from './maintenance.port.js';
import { mendEach, type MaintenanceObserver } from './mend.js';

export const PRUNER = 'job.pruner';

export interface PrunerOptions {
  readonly store: JobStore;
  readonly view: JobView;
  readonly survey: StoreSurvey;
  readonly deletedEndpoints: DeletedEndpoints;
  readonly pendingDeliveries: PendingDeliveries;
  readonly observer: MaintenanceObserver;
}

/** Listing costs the broker something by the number of subjects, and every stream chunk is one. */
const TICKETS_INTERVAL_MS = 30_000;
const ATTACHMENTS_INTERVAL_MS = 3 * 60_000;
/** The longer a look takes, the rarer it is. */
const QUIET_PER_LOOK = 20;

/** Deleted endpoints emptied in one pass: each costs a purge per stream. */
const ENDPOINTS_PER_PASS = 20;

/** How long the view may take to show that a deleted endpoint's jobs are cancelled, before the next pass goes on. */
const SETTLE_ROUNDS_MAX = 10;
const SETTLE_MS = 200;

/** Removes what nothing refers to any more: tickets, payload parts and chunks without their job, and deleted endpoints. */
export class Pruner {
  readonly #options: PrunerOptions;
  #ticketsSinceMs: ReadonlyMap<string, number> = new Map();
  #attachmentsSinceMs: ReadonlyMap<string, number> = new Map();
  /** Deleted endpoints of which nothing was left at the last look. */
  readonly #emptied = new Set<EndpointId>();
  #nextTicketsMs = 0;
  #nextAttachmentsMs = 0;

  constructor(options: PrunerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#pruneEndpoints(signal);
    const nowMs = this.#options.store.clock.monotonicMs();
    if (nowMs >= this.#nextTicketsMs) {
      await this.#pruneTickets(signal);
      this.#nextTicketsMs = this.#restAfter(nowMs, TICKETS_INTERVAL_MS);
    }
    if (nowMs >= this.#nextAttachmentsMs) {
      await this.#pruneAttachments(signal);
      this.#nextAttachmentsMs = this.#restAfter(nowMs, ATTACHMENTS_INTERVAL_MS);
    }
  }

  #restAfter(beganAtMs: number, intervalMs: number): number {
    const tookMs = this.#options.store.clock.monotonicMs() - beganAtMs;
    return beganAtMs + Math.max(intervalMs, QUIET_PER_LOOK * tookMs);
  }

  async #pruneTickets(signal: AbortSignal): Promise<void> {
    const { view, survey, store, observer } = this.#options;
    const { ripe, sinceMs } = await findOrphans(survey.tickets(), this.#ticketsSinceMs, {
      nameOf: (ticket) => `${ticket.endpointId}/${attemptName(ticket)}`,
      hasOwner: (ticket) => isQueued(view.find(ticket), ticket),
      nowMs: store.clock.monotonicMs(),
    });
    this.#ticketsSinceMs = sinceMs;
    await mendEach(ripe, { loop: PRUNER, observer, signal }, async (ticket) => {
      const job = await readJob(store, ticket);
      if (job?.state === 'IN_QUEUE' && job.attempt === ticket.attempt) return;
      await store.tickets.removeFor(ticket, ticket.attempt, ticket.isLowPriority);
      observer.mended('ticket-orphaned', ticket);
    });
  }

  async #pruneAttachments(signal: AbortSignal): Promise<void> {
    const { view, survey, store, observer, pendingDeliveries } = this.#options;
    const untold = new Set([...pendingDeliveries.pending()].map(({ endpointId, jobId }) => `${endpointId}/${jobId}`));
    const { ripe, sinceMs } = await findOrphans(survey.attachments(), this.#attachmentsSinceMs, {
      nameOf: ({ endpointId, jobId, attempt }) => `${endpointId}/${attemptName({ jobId, attempt: attempt ?? 0 })}`,
      hasOwner: (attachment) =>
        isOwned(view.find(attachment), attachment) || untold.has(`${attachment.endpointId}/${attachment.jobId}`),
      nowMs: store.clock.monotonicMs(),
    });
    this.#attachmentsSinceMs = sinceMs;
    await mendEach(ripe, { loop: PRUNER, observer, signal }, (attachment) => this.#prune(attachment));
  }

  async #prune({ endpointId, jobId, attempt }: Attachment): Promise<void> {
    const { store, observer } = this.#options;
    const key = { endpointId, jobId };
    const job = await readJob(store, key);
    if (job === null) {
      // Whoever is still to be told of its end is sent the payloads too.
      if ((await store.deliveries.list(key)).some(({ outcome }) => outcome === null)) return;
      await (attempt === null ? store.blobs.removeAll(key) : store.chunks.removeAll(key));
      observer.mended('attachment-orphaned', key);
    } else if (attempt !== null && attempt < job.attempt) {
      await store.chunks.removeAttempt(key, attempt);
      observer.mended('attempt-superseded', key);
    }
  }

  async #pruneEndpoints(signal: AbortSignal): Promise<void> {
    const { deletedEndpoints, observer } = this.#options;
    const left = deletedEndpoints.list().filter((id) => !this.#emptied.has(id) || this.#hasJobs(id));
    await mendEach(left.slice(0, ENDPOINTS_PER_PASS), { loop: PRUNER, observer, signal }, (endpointId) =>
      this.#empty(endpointId, signal),
    );
  }

  /** Cancels before it purges, so that every host hears of it; what comes in between is found at the next look. */
  async #empty(endpointId: EndpointId, signal: AbortSignal): Promise<void> {
    const { view, survey, store } = this.#options;
    for (let round = 0; this.#liveJobs(endpointId).length > 0; round += 1) {
      if (round === SETTLE_ROUNDS_MAX || signal.aborted) return;
      await this.#cancelAll(endpointId, signal);
      await store.clock.sleep(SETTLE_MS, signal);
    }
    const removed = await survey.purgeEndpoint(endpointId);
    view.forgetEndpoint(endpointId);
    if (removed === 0) this.#emptied.add(endpointId);
    else this.#emptied.delete(endpointId);
  }

  async #cancelAll(endpointId: EndpointId, signal: AbortSignal): Promise<void> {
    const { store, view, observer } = this.#options;
    const unreadable = await mendEach(
      this.#liveJobs(endpointId),
      { loop: PRUNER, observer, signal },
      async ({ jobId }) => {
        const key = { endpointId, jobId };
        const job = await cancel(store, key);
        if (job === null) view.remove(key, store.clock.nowMs());
        else observer.mended('endpoint-deleted', key);
      },
    );
    // Nobody can be told of them; they go with the endpoint, and must not keep it.
    for (const job of unreadable) view.purge(job);
  }

  #liveJobs(endpointId: EndpointId): readonly JobSighting[] {
    const { view } = this.#options;
    return [...view.queued(endpointId), ...view.running(endpointId)];
  }

  #hasJobs(endpointId: EndpointId): boolean {
    const { view } = this.#options;
    return view.endpointIds().includes(endpointId);
  }
}

const isQueued = (job: JobSighting | undefined, ticket: WaitingTicket): boolean =>
  job?.state === 'IN_QUEUE' && job.attempt === ticket.attempt;

/** Chunks belong to one attempt, payload parts to the job. */
const isOwned = (job: JobSighting | undefined, { attempt }: Attachment): boolean =>
  job !== undefined && (attempt === null || attempt >= job.attempt);
