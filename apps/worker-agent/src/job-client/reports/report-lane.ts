import { outputBlobName, type DoneResult, type ReportReply } from '@berth/contracts';
import { BLOB_PART_BYTES, INLINE_OUTPUT_MAX_BYTES, type Payload, type RawJson } from '@berth/domain';
import { duringStep } from '@berth/telemetry';
import { logged, type HostAttempt } from '../attempts/attempt.js';
import type { EndingRow, OutputFacts } from '../attempts/attempt-records.js';
import { FRAME_BYTES } from './payload-bytes.js';
import { isLongGone, repeatEnd, repeatStored, showOnce, type ReportTools } from './repeat-report.js';

const UNREADABLE_PAUSE_MS = 10_000;
const CHUNKS_AT_ONCE = 8;
const PARTS_AT_ONCE = 4;

type ReportOutcome = ReportReply['outcome'];

interface LaneEnding {
  readonly row: EndingRow;
  readonly sinceMs: number;
  /** The output's text where it is not in the journal. */
  output: RawJson | null;
}

/**
 * The reports of one attempt to the router, in order: chunks, then the result. Each is repeated until a router has
 * answered, and only then leaves the journal. Progress is shown when nothing else waits, and is never repeated.
 */
export class ReportLane {
  readonly #tools: ReportTools;
  readonly #attempt: HostAttempt;
  readonly #finish: (outcome: ReportOutcome) => void;
  /** Indexes whose text is in the journal and not acknowledged, ascending. */
  readonly #chunks: number[] = [];
  /** The newest acknowledged chunk stays: after a restart it tells how many there were. */
  #lastSent: number | null = null;
  #ending: LaneEnding | null = null;
  #progress: RawJson | null = null;
  #isRunning = false;
  #isTroubled = false;
  #onTrouble: (() => void) | null = null;

  /** @param finish told once: the router has the result, or wants nothing more of this attempt */
  constructor(tools: ReportTools, attempt: HostAttempt, finish: (outcome: ReportOutcome) => void) {
    this.#tools = tools;
    this.#attempt = attempt;
    this.#finish = finish;
  }

  /** Chunks whose text may still lie in the journal. */
  get chunkIndexes(): readonly number[] {
    return this.#lastSent === null ? this.#chunks : [this.#lastSent, ...this.#chunks];
  }

  addChunks(indexes: readonly number[]): void {
    this.#chunks.push(...indexes);
    this.#run();
  }

  addProgress(output: RawJson): void {
    this.#progress = output;
    this.#run();
  }

  /** @param output the output's text, where it is not in the journal */
  addEnding(row: EndingRow, output: RawJson | null = null): void {
    this.#ending = { row, sinceMs: this.#tools.clock.monotonicMs(), output };
    this.#run();
  }

  /** The ending is in the journal now. */
  noteWritten(): void {
    if (this.#ending !== null) this.#ending.output = null;
  }

  /** True while what was sent last has failed. */
  get isTroubled(): boolean {
    return this.#isTroubled;
  }

  /** Told once of the next try that fails. */
  watchTrouble(listener: () => void): void {
    this.#onTrouble = listener;
  }

  readonly #noteFailure = (): void => {
    this.#isTroubled = true;
    this.#onTrouble?.();
    this.#onTrouble = null;
  };

  #run(): void {
    if (this.#isRunning || this.#attempt.state === 'over') return;
    this.#isRunning = true;
    void this.#drainOrWait().then((outcome) => {
      this.#isRunning = false;
      if (outcome !== null) this.#finish(outcome);
      else if (this.#hasWork && !this.#tools.signal.aborted) this.#run();
    });
  }

  get #hasWork(): boolean {
    return this.#chunks.length > 0 || this.#ending !== null || this.#progress !== null;
  }

  /** Repeating ended without an answer (the agent stops, the job is long gone), or the journal could not be read. */
  async #drainOrWait(): Promise<ReportOutcome | null> {
    const { clock, signal, log } = this.#tools;
    try {
      return await this.#drain();
    } catch (error) {
      if (signal.aborted) return null;
      if (isLongGone(this.#attempt, clock.monotonicMs())) return 'superseded';
      log.error('A report could not be read from the journal.', { ...logged(this.#attempt), error });
      await clock.sleep(UNREADABLE_PAUSE_MS, signal);
      return null;
    }
  }

  /** Sends whatever waits; the outcome once there is nothing more to come, else null. */
  async #drain(): Promise<ReportOutcome | null> {
    for (;;) {
      if (this.#attempt.state === 'over') return null;
      if (this.#chunks.length > 0) {
        if ((await this.#sendChunks()) === 'superseded') return 'superseded';
      } else if (this.#ending !== null) {
        return this.#sendEnding(this.#ending);
      } else if (this.#progress !== null) {
        await this.#sendProgress();
      } else {
        return null;
      }
    }
  }

  async #sendChunks(): Promise<ReportOutcome> {
    const indexes = this.#chunks.slice(0, CHUNKS_AT_ONCE);
    const outcomes = await Promise.all(indexes.map((index) => this.#sendChunk(index)));
    if (outcomes.includes('superseded')) return 'superseded';
    this.#chunks.splice(0, indexes.length);
    const acknowledged = this.#lastSent === null ? indexes : [this.#lastSent, ...indexes];
    this.#lastSent = acknowledged.at(-1) ?? null;
    // A record that stays is sent once more after a restart, which changes nothing.
    await Promise.allSettled([this.#tools.records.removeChunks(this.#attempt, acknowledged.slice(0, -1))]);
    return 'recorded';
  }

  async #sendChunk(index: number): Promise<ReportOutcome> {
    const { records } = this.#tools;
    const bytes = records.chunkBytes(this.#attempt, index) ?? 0;
    const read = async () => {
      const body = await records.readChunk(this.#attempt, index);
      return body === null ? null : { ...this.#attempt.ref, index, body };
    };
    const reply = await repeatStored(this.#tools, this.#attempt, {
      ...{ verb: 'chunk', bytes: bytes + FRAME_BYTES, read },
      onFailure: this.#noteFailure,
    } as const);
    this.#isTroubled = false;
    // Lost with a damaged disk: the gap is better than an attempt that never ends.
    return reply?.outcome ?? 'recorded';
  }

  async #sendProgress(): Promise<void> {
    const output = this.#progress;
    this.#progress = null;
    if (output === null || Buffer.byteLength(output, 'utf8') > INLINE_OUTPUT_MAX_BYTES) return;
    const request = { ...this.#attempt.ref, output: { kind: 'inline', json: output } as const };
    await Promise.allSettled([showOnce(this.#tools, this.#attempt, request)]);
  }

  async #sendEnding(ending: LaneEnding): Promise<ReportOutcome> {
    const result = await this.#toResult(ending);
    const { chunks, ref, traceparent } = this.#attempt;
    const end = () => {
      // The host may have ended it otherwise meanwhile, which has no output.
      const isSame = this.#ending === null || this.#ending.row === ending.row;
      return { ...ref, result: isSame ? result : (this.#ending?.row as DoneResult), chunks, traceparent };
    };
    const { clock, metrics, traces } = this.#tools;
    const step = traces.step(this.#attempt.step?.traceparent);
    const reply = await duringStep(step, { name: 'report end', kind: 'client' }, () =>
      repeatEnd(this.#tools, this.#attempt, { end, onFailure: this.#noteFailure }),
    );
    metrics.reportSeconds.observe({}, (clock.monotonicMs() - ending.sinceMs) / 1_000, step?.traceparent);
    return reply.outcome;
  }

  async #toResult({ output: text, row }: LaneEnding): Promise<DoneResult> {
    if (row.kind === 'timed-out' || row.kind === 'lost') return row;
    if (text !== null) return { ...row, output: { kind: 'inline', json: text } };
    const output = row.output === null ? null : await this.#toPayload(row.output);
    if (output === 'missing') {
      return { kind: 'failed', error: 'the output was lost on the disk of the host', output: null };
    }
    return { ...row, output };
  }

  async #toPayload(facts: OutputFacts): Promise<Payload | 'missing'> {
    const { sizeBytes, sha256 } = facts;
    if (sha256 === null) {
      const bytes = await this.#tools.records.readOutput(this.#attempt, 0, sizeBytes);
      return bytes === null ? 'missing' : { kind: 'inline', json: bytes.toString('utf8') as RawJson };
    }
    const parts = Math.ceil(sizeBytes / BLOB_PART_BYTES);
    for (let first = 0; first < parts; first += PARTS_AT_ONCE) {
      const indexes = Array.from({ length: Math.min(PARTS_AT_ONCE, parts - first) }, (_, order) => first + order);
      const sent = await Promise.all(indexes.map((part) => this.#upload(part, sizeBytes)));
      if (sent.includes(false)) return 'missing';
    }
    const name = outputBlobName(this.#attempt.ref.attempt);
    return { kind: 'blob', manifest: { name, parts, sizeBytes, sha256 } };
  }

  async #upload(part: number, sizeBytes: number): Promise<boolean> {
    const read = async () => {
      const bytes = await this.#tools.records.readOutput(this.#attempt, part * BLOB_PART_BYTES, BLOB_PART_BYTES);
      return bytes === null ? null : { ...this.#attempt.ref, part, base64: bytes.toString('base64') };
    };
    const partBytes = Math.min(BLOB_PART_BYTES, sizeBytes - part * BLOB_PART_BYTES);
    const bytes = Math.ceil((partBytes * 4) / 3) + FRAME_BYTES;
    return (await repeatStored(this.#tools, this.#attempt, { verb: 'upload', bytes, read })) !== null;
  }
}
