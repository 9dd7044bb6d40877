import {
  LOG_LINE_CHARACTERS_MAX,
  admitLines,
  cleanPrinted,
  describeAbsence,
  describeDropped,
  fullAllowance,
  jobOfLine,
  noteJobEnd,
  noteJobStart,
  type JobId,
  type JobSpan,
  type LineAllowance,
  type WorkerId,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { ContainerRuntime, PrintedBatch } from '../runtimes/index.js';
import type { NewLine } from './spool-format.js';
import type { WorkerSpool } from './worker-spool.js';

export interface WorkerLogOptions {
  readonly workerId: WorkerId;
  /** Resolves once it is open on disk; null: it could not be opened, or its endpoint was deleted. */
  readonly spool: Promise<WorkerSpool | null>;
  readonly runtime: Pick<ContainerRuntime, 'follow'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when lines were added. */
  readonly onLines: () => void;
}

/** A container that has ended is read to its end for so long; then it is let go with what was not read. */
const SETTLE_MAX_MS = 5_000;
/** After an error of the runtime. */
const FOLLOW_AGAIN_MS = 1_000;
/** Between batches of which not a line is kept: reading what is dropped must not cost the agent its other work. */
const FLOOD_PAUSE_MS = 20;

/** Brings what one worker prints, and what its agent says of it, into its spool. Nothing here ever fails its caller. */
export class WorkerLog {
  readonly #options: WorkerLogOptions;
  readonly #closing = new AbortController();
  #allowance: LineAllowance;
  #spans: readonly JobSpan[] = [];
  /** Lines that are to be told as dropped. */
  #dropped = 0;
  /** How far the output was read; beyond what is kept while lines are dropped. */
  #position: string | null = null;
  #following: { readonly containerId: string; readonly isOver: Promise<void> } | null = null;
  #saying: Promise<void> = Promise.resolve();
  #hasComplained = false;

  constructor(options: WorkerLogOptions) {
    this.#options = options;
    this.#allowance = fullAllowance(options.clock.monotonicMs());
  }

  /** Adds a line of the agent's own, after those that it was told before. @param key said once, over restarts too */
  say(line: string, key?: string): void {
    this.#saying = this.#saying.then(() => this.#say(line, key));
  }

  /** As `say`, once all that the container printed is in. */
  sayLast(line: string, key: string): void {
    this.#saying = this.#saying.then(() => this.settle()).then(() => this.#say(line, key));
  }

  /** Follows what this container prints; one that is followed already is left as it is. */
  follow(containerId: string): void {
    if (this.#following?.containerId === containerId || this.#closing.signal.aborted) return;
    const before = this.#following?.isOver;
    this.#following = { containerId, isOver: this.#followAfter(before) };
  }

  /** Resolves when all that the followed container printed is kept, or when it takes too long. */
  async settle(): Promise<void> {
    if (this.#following === null) return;
    const over = new AbortController();
    void this.#following.isOver.then(() => {
      over.abort();
    });
    await this.#options.clock.sleep(SETTLE_MAX_MS, over.signal);
  }

  noteJobStart(jobId: JobId): void {
    this.#spans = noteJobStart(this.#spans, jobId, this.#options.clock.nowMs());
  }

  noteJobEnd(jobId: JobId): void {
    this.#spans = noteJobEnd(this.#spans, jobId, this.#options.clock.nowMs());
  }

  /** Says how many lines were dropped, where some were and nothing has been kept since. */
  async tellDropped(): Promise<void> {
    if (this.#dropped > 0) await this.#keep([], 0);
  }

  /** Ends it; what was said before is kept. The container's output is taken up where it was left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following?.isOver;
    await this.#saying;
  }

  async #followAfter(before: Promise<void> | undefined): Promise<void> {
    await before;
    const { clock, logger, runtime, workerId } = this.#options;
    const { signal } = this.#closing;
    const spool = await this.#options.spool;
    if (spool === null) return;
    this.#position ??= spool.position;
    while (!signal.aborted) {
      try {
        for await (const batch of runtime.follow(workerId, this.#position, signal)) await this.#take(batch);
        return;
      } catch (error) {
        logger.debug('what a worker prints cannot be read now', { workerId, error });
        await clock.sleep(FOLLOW_AGAIN_MS, signal);
      }
    }
  }

  async #take({ isGap, lines, position }: PrintedBatch): Promise<void> {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    const verdict = admitLines(lines, this.#allowance, clock.monotonicMs());
    this.#allowance = verdict.allowance;
    this.#position = position;
    const printed = verdict.admitted.map(({ atMs, text }) => this.#printed(text, atMs ?? nowMs));
    const gap = isGap ? [systemLine(describeAbsence(null), nowMs)] : [];
    if (gap.length + printed.length > 0) await this.#keep([...gap, ...printed], verdict.dropped);
    else this.#dropped += verdict.dropped;
    if (verdict.dropped > 0) await clock.sleep(FLOOD_PAUSE_MS, this.#closing.signal);
  }

  #printed(text: string, atMs: number): NewLine {
    const line = cleanPrinted(text, LOG_LINE_CHARACTERS_MAX);
    const jobId = jobOfLine(text, atMs, this.#spans);
    return { atMs, source: 'container', line, ...(jobId === undefined ? {} : { jobId }) };
  }

  /** @param dropped behind these lines */
  async #keep(lines: readonly NewLine[], dropped: number): Promise<void> {
    const before = this.#dropped;
    const marker = before === 0 ? [] : [systemLine(describeDropped(before), this.#options.clock.nowMs())];
    this.#dropped = 0;
    const isKept = await this.#append([...marker, ...lines], { position: this.#position });
    this.#dropped += dropped + (isKept ? 0 : before + lines.length);
  }

  async #say(line: string, key?: string): Promise<void> {
    const spool = await this.#options.spool;
    if (spool === null || (key !== undefined && spool.key === key)) return;
    const said = systemLine(cleanPrinted(line, LOG_LINE_CHARACTERS_MAX), this.#options.clock.nowMs());
    await this.#append([said], key === undefined ? {} : { key });
  }

  /** False where the disk does not take them. */
  async #append(lines: readonly NewLine[], change: { position?: string | null; key?: string }): Promise<boolean> {
    const spool = await this.#options.spool;
    if (spool === null) return true;
    const { clock, logger, onLines, workerId } = this.#options;
    try {
      await spool.append(lines, change, clock.nowMs());
      this.#hasComplained = false;
      onLines();
      return true;
    } catch (error) {
      if (!this.#hasComplained)
        logger.error('the log of a worker cannot be kept; lines are dropped', { workerId, error });
      this.#hasComplained = true;
      return false;
    }
  }
}

const systemLine = (line: string, atMs: number): NewLine => ({ atMs, source: 'system', line });
