import {
  REPORT_INTERVAL_MS,
  RESUMED_IDS_MAX,
  readHostReply,
  type DroppedEntries,
  type ReadHostReply,
  type ReportRequest,
  type WakeMessage,
} from '@berth/contracts';
import { HOST_NEWS_MAX_BYTES, fitReport, type EndpointId, type Inventory, type WorkerId } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { HostImagesAhead } from '../images-ahead/index.js';
import type { HostVolumes } from '../volumes/index.js';
import type { HostWorkers } from '../worker-reconciler/index.js';

export interface SessionOptions {
  readonly secret: string;
  /** New with every start of the agent. */
  readonly instanceId: string;
  readonly link: {
    /** Resolves when the connection stands, when the time is over, or when the signal aborts. */
    connected(withinMs: number, signal: AbortSignal): Promise<void>;
    /** The answer is read here: it may be anything. */
    report(request: ReportRequest): Promise<unknown>;
    onWake(listener: (message: WakeMessage) => void): () => void;
  };
  readonly inventory: () => Promise<Inventory>;
  readonly workers: HostWorkers;
  readonly volumes: Pick<HostVolumes, 'clearedIds' | 'setDeleted'>;
  readonly logs: SpooledLogs;
  /** Absent: this host prepares none. */
  readonly imagesAhead?: HostImagesAhead;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told how much of each reply could not be read, where there is any: its entries, or 1 for the whole. */
  readonly onUnreadable?: (entries: number) => void;
}

/** What of the kept logs must be told, and what must go. */
interface SpooledLogs {
  spooledEndpointIds(): readonly EndpointId[];
  forgetEndpoints(endpointIds: readonly EndpointId[]): void;
}

/** The connection stands a moment after the agent began; a report before that would only be one that failed. */
const FIRST_WAIT_MS = 10_000;
/** Changes that come together are told together; who is woken asks at once, because a job may wait for the answer. */
const GATHER_MS = 50;
/** Of what could not be read of one reply. */
const FAULTS_SHOWN_MAX = 8;

/** Tells the control plane what is, and hears what shall be: every few seconds, and at once when something changed. */
export class HostSession {
  readonly #options: SessionOptions;
  readonly #loop: ControlLoop;
  #sequence = 0;
  #isAnswered = true;
  #isTakenWhole = true;
  #isReadWhole = true;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  /** Something has changed since the last report was gathered. */
  #hasNews = false;
  #woken = new AbortController();
  /** Whether the report that goes out now was asked for. */
  #isWoken = false;
  #found: { readonly atMs: number; readonly inventory: Inventory } | null = null;
  /** Those that were resumed since the last report went out: its answer may be older than that. */
  readonly #resumed = new Set<WorkerId>();
  readonly #ends: (() => void)[] = [];

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'host.report',
      intervalMs: REPORT_INTERVAL_MS,
      clock: options.clock,
      run: (signal) => this.#report(signal),
      onError: (_, error) => this.#complain(error),
    });
  }

  start(): void {
    const hurry = (): void => {
      this.#hasNews = true;
      this.#loop.hurry();
    };
    const wake = ({ isAll = false, resumedIds }: WakeMessage): void => {
      // A job may wait for them; the report that follows hears the same.
      this.#options.workers.resume(resumedIds);
      for (const workerId of resumedIds) if (this.#resumed.size < RESUMED_IDS_MAX) this.#resumed.add(workerId);
      if (!isAll) this.#woken.abort();
      hurry();
    };
    const { imagesAhead, link, workers } = this.#options;
    this.#ends.push(link.onWake(wake), workers.subscribe(hurry));
    if (imagesAhead !== undefined) this.#ends.push(imagesAhead.subscribe(hurry));
    this.#loop.start();
  }

  async stop(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await this.#loop.stop();
  }

  /** Says the last word of this agent: what has become of its workers. Failing is no harm, the control plane finds out. */
  async reportOnce(): Promise<void> {
    this.#isWoken = false;
    await this.#exchange().catch((error: unknown) => {
      this.#complain(error);
    });
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { clock, link } = this.#options;
    if (this.#sequence === 0) await link.connected(FIRST_WAIT_MS, signal);
    // What came while others were gathered was told with them.
    if (!this.#hasNews && clock.monotonicMs() - this.#reportedAtMs < REPORT_INTERVAL_MS / 2) return;
    await clock.sleep(GATHER_MS, AbortSignal.any([signal, this.#woken.signal]));
    if (signal.aborted) return;
    this.#hasNews = false;
    this.#isWoken = this.#woken.signal.aborted;
    this.#woken = new AbortController();
    const reply = readHostReply(await this.#exchange());
    if (!this.#isAnswered) this.#options.logger.info('the control plane answers again');
    this.#isAnswered = true;
    this.#noteFaults(reply.kind === 'value' ? reply.value.faults : [reply.reason]);
    // An agent that is told nothing goes on with what there is.
    if (reply.kind === 'value') this.#take(reply.value);
  }

  #take(reply: ReadHostReply): void {
    const { dataCenterId, deletedEndpointIds = [], deletedVolumes = [], desired, heldIds, isComplete } = reply;
    this.#options.imagesAhead?.setWanted(reply.imagesAhead ?? []);
    this.#noteDropped(reply.dropped);
    this.#options.volumes.setDeleted(deletedVolumes);
    this.#options.logs.forgetEndpoints(deletedEndpointIds);
    const held = new Set(heldIds);
    const { workers } = this.#options;
    workers.setDesired(desired, dataCenterId, (workerId) => !isComplete || held.has(workerId));
    workers.resume([...this.#resumed]);
  }

  /** Counted each time, and logged once until a reply can be read whole again. */
  #noteFaults(faults: readonly string[]): void {
    if (faults.length > 0) {
      this.#options.onUnreadable?.(faults.length);
      const examples = faults.slice(0, FAULTS_SHOWN_MAX);
      if (this.#isReadWhole) {
        const said = 'part of what the control plane answers cannot be read; what runs of it goes on';
        this.#options.logger.error(said, { count: faults.length, examples });
      }
    }
    this.#isReadWhole = faults.length === 0;
  }

  /** Once until a report is taken whole again. */
  #noteDropped(dropped: DroppedEntries | undefined): void {
    const isWhole = dropped === undefined;
    if (!isWhole && this.#isTakenWhole) {
      this.#options.logger.warn('the control plane cannot read part of the report; the rest is taken', { ...dropped });
    }
    this.#isTakenWhole = isWhole;
  }

  async #exchange(): Promise<unknown> {
    const { clock, secret, instanceId, link, logs, volumes, workers } = this.#options;
    const found = await this.#inventory();
    const inventory = this.#options.imagesAhead?.toldIn(found) ?? found;
    const { clearedIds } = volumes;
    this.#sequence += 1;
    this.#reportedAtMs = clock.monotonicMs();
    const news = fitReport({ inventory, workers: workers.observed() }, HOST_NEWS_MAX_BYTES);
    const spooledEndpointIds = logs.spooledEndpointIds();
    const spooled = spooledEndpointIds.length === 0 ? {} : { spooledEndpointIds };
    const cleared = clearedIds.length === 0 ? {} : { clearedVolumeIds: clearedIds };
    const words = { ...news, ...cleared, ...spooled };
    this.#resumed.clear();
    return link.report({ secret, instanceId, sequence: this.#sequence, ...words, sentAtMs: clock.nowMs() });
  }

  /** A woken agent says again what it found a moment ago: looking takes time, and a job may wait for the answer. */
  async #inventory(): Promise<Inventory> {
    const nowMs = this.#options.clock.monotonicMs();
    const known =
      this.#isWoken && this.#found !== null && nowMs - this.#found.atMs < REPORT_INTERVAL_MS ? this.#found : null;
    this.#found = known ?? { atMs: nowMs, inventory: await this.#options.inventory() };
    return this.#found.inventory;
  }

  /** Once per interruption: the loop goes on every few seconds, and the log should stay readable. */
  #complain(error: unknown): void {
    const { logger } = this.#options;
    if (this.#isAnswered) logger.warn('the control plane did not take the report; trying on', { error });
    else logger.debug('still no answer from the control plane', { error });
    this.#isAnswered = false;
  }
}
