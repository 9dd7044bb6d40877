import type { JetStreamAttachments } from '@berth/messaging';
import type { EndpointId, PurgeableDecision } from '@berth/domain';
import { deleteUnread, saysDeleted, type LogBroker, type LogEntry, type UnreadPurge } from '@berth/endpoint-log';
import { ControlLoop, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { isUnavailable } from '../../owners/index.js';
import type { DeletedEndpoints } from '../../directory/index.js';
import type { OwnedLogs } from '../logs/endpoint-logs.js';

export interface EndpointDeletionsOptions {
  readonly deleted: DeletedEndpoints;
  readonly logs: Pick<OwnedLogs, 'delete'>;
  readonly broker: Pick<LogBroker, 'append' | 'purge' | 'read' | 'readNext'>;
  readonly attachments: Pick<JetStreamAttachments, 'removeEndpoint'>;
  /** Whether this router owns the endpoint's shard. */
  readonly owns: (endpointId: EndpointId) => boolean;
  /** How far the log of the endpoint's shard may be purged, as far as the projector that follows it is concerned. */
  readonly purgeable: (endpointId: EndpointId) => PurgeableDecision;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** An endpoint has nothing left but the word that it was deleted. */
  readonly onEmptied: () => void;
  /** Some of its log has gone, though it was not read. */
  readonly onUnreadPurged: (endpointId: EndpointId, reason: UnreadPurge) => void;
}

const INTERVAL_MS = 30_000;
/** Endpoints that are looked at in one pass, one after the other; the others have their turn in the next. */
const ENDPOINTS_PER_PASS = 16;
/** One that is not empty yet, or could not be looked at, is looked at again after this. */
const AGAIN_MS = 5_000;

/**
 * Empties the endpoints that were deleted: first the log says so, by which hosts stop; then what lies beside it goes, until
 * nothing more is found; then the log itself, but for the batch that says that it was deleted. So a log that has nothing
 * but that needs no more, by whichever owner, and every step may be done again.
 */
export class EndpointDeletions {
  readonly #options: EndpointDeletionsOptions;
  readonly #loop: ControlLoop;
  /** Endpoints that need no more. */
  readonly #emptied = new Set<EndpointId>();
  /** When the others are looked at again, monotonic. */
  readonly #notBefore = new Map<EndpointId, number>();

  constructor(options: EndpointDeletionsOptions) {
    const { clock, deleted, logger } = options;
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'endpoint.deletions',
      intervalMs: INTERVAL_MS,
      clock,
      run: (signal) => this.run(signal),
      onError: (name, error) => logger.error(`control loop ${name} failed; it runs again`, { error }),
    });
    deleted.onDeleted(() => this.#loop.hurry());
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** One pass. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, deleted, owns } = this.#options;
    const listed = new Set(deleted.list());
    for (const known of [this.#emptied, this.#notBefore]) {
      for (const endpointId of known.keys()) if (!listed.has(endpointId)) known.delete(endpointId);
    }
    const left = [...listed].filter((endpointId) => !this.#emptied.has(endpointId) && owns(endpointId));
    const due = left.filter((endpointId) => (this.#notBefore.get(endpointId) ?? 0) <= clock.monotonicMs());
    for (const endpointId of due.slice(0, ENDPOINTS_PER_PASS)) {
      if (signal.aborted) return;
      await this.#look(endpointId);
    }
    if (due.length > ENDPOINTS_PER_PASS) this.#loop.hurry();
    else if (left.some((endpointId) => !this.#emptied.has(endpointId))) this.#loop.hurryPaced(AGAIN_MS);
  }

  async #look(endpointId: EndpointId): Promise<void> {
    const { clock, logger, onEmptied } = this.#options;
    try {
      if (await this.#empty(endpointId)) {
        this.#emptied.add(endpointId);
        this.#notBefore.delete(endpointId);
        onEmptied();
        return;
      }
    } catch (error) {
      if (!isUnavailable(error))
        logger.error('an endpoint that was deleted could not be emptied', { endpointId, error });
    }
    this.#notBefore.set(endpointId, clock.monotonicMs() + AGAIN_MS);
  }

  /** True where nothing is left to do. */
  async #empty(endpointId: EndpointId): Promise<boolean> {
    const { attachments, broker, purgeable } = this.#options;
    const first = await broker.readNext(endpointId, 0);
    // Payloads are written before the log is.
    if (first === null) return (await attachments.removeEndpoint(endpointId)) === 0;
    if (await this.#isLastWord(endpointId, first)) return true;
    const last = await this.#delete(endpointId);
    if (last === null) return false;
    if ((await attachments.removeEndpoint(endpointId)) > 0) return false;
    const decision = purgeable(endpointId);
    const through = Math.min(last - 1, decision.through);
    if (through >= first.sequence) await broker.purge(endpointId, through);
    this.#tellUnread(endpointId, decision, { first: first.sequence, through });
    return through === last - 1;
  }

  /**
   * Where its log cannot be read its jobs' hosts cannot be told to stop; they learn it when they renew.
   *
   * @returns the sequence of the batch that says it; null: there is none yet
   */
  async #delete(endpointId: EndpointId): Promise<number | null> {
    const said = await this.#options.logs.delete(endpointId);
    if (said === 'silent') return null;
    if (said.kind === 'answer') return said.answer;
    return said.reason === 'stopped' ? deleteUnread(this.#options, endpointId) : null;
  }

  #tellUnread(
    endpointId: EndpointId,
    { readThrough, reason }: PurgeableDecision,
    { first, through }: { readonly first: number; readonly through: number },
  ): void {
    const isUnread = through >= first && through > readThrough;
    if (isUnread && reason !== 'read') this.#options.onUnreadPurged(endpointId, reason);
  }

  /** Whether it says that the endpoint was deleted, and nothing follows it. */
  async #isLastWord(endpointId: EndpointId, entry: LogEntry): Promise<boolean> {
    return saysDeleted(entry) && (await this.#options.broker.readNext(endpointId, entry.sequence)) === null;
  }
}
