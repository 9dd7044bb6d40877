import type { AttemptRef, ChunkRequest, HoldAnswer, ReportReply } from '@berth/contracts';
import { attachmentTtlMs, type HostId } from '@berth/domain';
import type { Chunks } from '@berth/payloads';
import { Semaphore, type Clock } from '@berth/lifecycle';
import type { NatsWatcherNotices } from '../../notices/index.js';
import { proofOf, type AttemptOwners, type AttemptOfHost } from './attempt-owners.js';
import type { GatewayMetrics } from '../metrics.js';

export interface StreamingOptions {
  readonly owners: Pick<AttemptOwners, 'tell' | 'hold' | 'findHeld'>;
  readonly chunks: Pick<Chunks, 'append' | 'read'>;
  readonly notices: Pick<NatsWatcherNotices, 'tell'>;
  readonly clock: Clock;
  readonly metrics: Pick<GatewayMetrics, 'results'>;
}

/** The bytes that the broker keeps beside the text of a chunk: without it millions of empty ones would cost nothing. */
const OVERHEAD_BYTES = 256;
/** An agent sends so many side by side, and the next when all of them are there. */
const SIDE_BY_SIDE = 8;
const MISSING_PATIENCE_MS = 3_000;
const MISSING_LOOK_MS = 250;
/** Each may read as many of the largest chunks as are sent side by side. */
const ENDINGS_AT_ONCE = 4;

const RECORDED: ReportReply = { outcome: 'recorded' };
const SUPERSEDED: ReportReply = { outcome: 'superseded' };

/** Takes the chunks that running attempts stream. */
export class Streaming {
  readonly #options: StreamingOptions;
  readonly #endings = new Semaphore(ENDINGS_AT_ONCE);

  constructor(options: StreamingOptions) {
    this.#options = options;
  }

  async chunk(hostId: HostId, request: ChunkRequest): Promise<ReportReply> {
    const { body, index, ...ref } = request;
    const bytes = Buffer.byteLength(body) + OVERHEAD_BYTES;
    const hold = await this.#options.owners.hold(hostId, ref, { index, bytes });
    return this.#answer(hostId, request, hold);
  }

  async #answer(hostId: HostId, request: ChunkRequest, hold: HoldAnswer): Promise<ReportReply> {
    switch (hold.kind) {
      case 'held':
        await this.#write(request, hold);
        return RECORDED;
      case 'superseded':
        return SUPERSEDED;
      case 'full':
        await this.#endings.run(() => this.#end(hostId, request, hold));
        return SUPERSEDED;
      default:
        return hold satisfies never;
    }
  }

  async #write({ body, index, ...ref }: ChunkRequest, { createdAtMs, watchers }: AttemptOfHost): Promise<void> {
    const { chunks, clock, notices } = this.#options;
    const { attempt, endpointId, jobId } = ref;
    await chunks.append(ref, { attempt, index, body }, attachmentTtlMs({ createdAtMs }, clock.nowMs()));
    if (watchers.length > 0) notices.tell(watchers, { endpointId, jobs: [{ jobId, now: 'moved' }] });
  }

  /**
   * A stream that may not grow any more ends its job: an error would be repeated for ever by a host that has no other way
   * on, and a chunk that is dropped in silence would leave a gap that no reader sees. The job has failed, with a sentence
   * that says of what, and with everything that had been streamed; its host hears that the attempt is over, and has the
   * worker stop.
   */
  async #end(hostId: HostId, { body: _body, index, ...ref }: ChunkRequest, full: FullAnswer): Promise<void> {
    const { metrics, owners } = this.#options;
    const chunks = await this.#countWritten(hostId, ref, index);
    if (chunks === null) return;
    const outcome = await owners.tell(ref.endpointId, {
      ...{ kind: 'finish', ...proofOf(hostId, ref), state: 'FAILED', error: overfull(full) },
      ...{ output: null, outputBytes: 0, chunks, logTail: [] },
    });
    metrics.results.inc({ kind: 'overfull', outcome });
  }

  /**
   * How many chunks there are without a gap. Those before this one may be on their way still: where one of them is refused
   * as well, the job ends there first. Null: the attempt is over.
   */
  async #countWritten(hostId: HostId, ref: AttemptRef, index: number): Promise<number | null> {
    const { chunks, clock, owners } = this.#options;
    const { attempt, endpointId, jobId } = ref;
    const untilMs = clock.monotonicMs() + MISSING_PATIENCE_MS;
    const fromIndex = Math.max(0, index - SIDE_BY_SIDE);
    const query = { endpointId, jobId, attempt, fromIndex, limit: index - fromIndex };
    for (;;) {
      const written = query.limit === 0 ? [] : await chunks.read(query);
      if (written.length === query.limit || clock.monotonicMs() >= untilMs) return fromIndex + written.length;
      await clock.sleep(MISSING_LOOK_MS);
      if ((await owners.findHeld(hostId, ref)) === null) return null;
    }
  }
}

type FullAnswer = Extract<HoldAnswer, { readonly kind: 'full' }>;

const REACHED: Readonly<Record<FullAnswer['limit'], (maxBytes: number) => string>> = {
  chunkBytesPerAttempt: (maxBytes) => `the job streamed more than the ${maxBytes} bytes that one attempt may stream`,
  chunkBytes: (maxBytes) =>
    `the job streamed when what the jobs of its account have streamed took the ${maxBytes} bytes that it may take`,
  chunkRoom: (maxBytes) =>
    `the job streamed when what the jobs of its account have streamed into this part of the store took the ${maxBytes} bytes that leave room for others`,
};

const overfull = ({ limit, maxBytes }: FullAnswer): string =>
  `${REACHED[limit](maxBytes)}: stream less, or put large results into a store of your own`;
