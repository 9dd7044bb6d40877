import { TurnPace } from '@berth/lifecycle';
import { loggedTrace, type Logger } from '@berth/telemetry';
import { JournalFullError } from '../../journal/index.js';
import type { BodyQueue, BodyMemory } from './body-queue.js';
import type { WorkerExchange } from '../http/http-listener.js';
import type { LargeBodies, LargeReading } from './large-bodies.js';
import type { BridgeMetrics } from '../metrics.js';
import { failedResult, readOversized, readPostedResult, splitChunk } from '@berth/contracts';
import type { RequestBody } from '../http/request-body.js';
import type { WorkerCall } from '../http/worker-call.js';
import type { WorkerSession } from '../worker-session/worker-session.js';

export type PostCall = WorkerCall & { readonly kind: 'done' | 'stream' };

export interface PostedBodiesTools {
  readonly budget: BodyQueue;
  readonly large: LargeBodies;
  readonly metrics: BridgeMetrics;
  readonly log: Logger;
}

type KeptBody = RequestBody & { readonly kind: 'small' | 'large' | 'oversized' };

/** `recycle`: its worker wants to be replaced. Else why the rest of it is not read. */
type Acceptance = 'accepted' | 'recycle' | 'slow' | 'crumbs';

/**
 * Bytes of all bodies together in one turn of the event loop: about two milliseconds of work. What stands in the buffer
 * of a paused request comes at once when it goes on, so only a few go on in one turn.
 */
const TURN = { amountMax: 256 * 1024, resumedMax: 4 } as const;

/** Takes what workers post, from the first byte until it is on the disk. */
export class PostedBodies {
  readonly #tools: PostedBodiesTools;
  readonly #pace = new TurnPace(TURN);

  constructor(tools: PostedBodiesTools) {
    this.#tools = tools;
  }

  /** 200 whatever was posted, once it is safe: after any 4xx the worker forgets its result. */
  async serve(session: WorkerSession, call: PostCall, exchange: WorkerExchange): Promise<void> {
    const { reply } = exchange;
    try {
      const acceptance = await session.bodies.run(exchange.isSmall, () => this.#accept(session, call, exchange));
      if (acceptance === 'slow' || acceptance === 'crumbs') {
        this.#tools.metrics.refused.inc({ reason: acceptance });
        await reply.hangUpWith(503);
        return;
      }
      await reply.send(200, '{}');
      if (acceptance === 'recycle') session.wantRecycle('the worker asked to be replaced');
    } catch (error) {
      if (!(error instanceof JournalFullError)) throw error;
      const trace = loggedTrace(session.attemptOf(call.jobId)?.traceparent);
      this.#tools.log.error('A result could not be kept; its worker will send it again.', { ...call, ...trace, error });
      await reply.send(503);
    }
  }

  async #accept(session: WorkerSession, call: PostCall, exchange: WorkerExchange): Promise<Acceptance> {
    const room = this.#tools.budget.roomFor(session.workerId, exchange.reply.gone);
    try {
      return await this.#readAndKeep(session, call, { exchange, room });
    } finally {
      room.release();
    }
  }

  /** @throws JournalFullError */
  async #readAndKeep(
    session: WorkerSession,
    call: PostCall,
    { exchange, room }: { readonly exchange: WorkerExchange; readonly room: BodyMemory },
  ): Promise<Acceptance> {
    const isWanted = (): boolean => session.attemptOf(call.jobId) !== null;
    const body = await exchange.readBody({ pace: this.#pace, room, isWanted });
    if (body.kind === 'cut') return 'accepted';
    if (body.kind === 'refused') return body.reason;
    // What nobody waits for need not be understood.
    if (body.kind === 'unwanted' || !isWanted()) {
      this.#tools.metrics.droppedResults.inc({ reason: 'not-held' });
      return 'accepted';
    }
    return call.kind === 'stream' && body.kind !== 'oversized'
      ? this.#keepChunks(session, call, body)
      : this.#keepResult(session, call, body);
  }

  async #keepChunks(
    session: WorkerSession,
    call: PostCall,
    body: KeptBody & { readonly kind: 'small' | 'large' },
  ): Promise<Acceptance> {
    const reading = body.kind === 'small' ? null : await this.#readLarge(call, body.blocks);
    // A gap in the stream is better than a job that fails for one chunk, and it is counted.
    if (reading !== null && reading.kind !== 'stream') return 'accepted';
    const chunks = body.kind === 'small' ? splitChunk(body.text) : (reading?.chunks ?? []);
    await session.serveChunks(call.jobId, chunks);
    return 'accepted';
  }

  async #keepResult(session: WorkerSession, call: PostCall, body: KeptBody): Promise<Acceptance> {
    const posted = await this.#toResult(call, body);
    await session.serveResult(call.jobId, posted);
    return posted.kind === 'result' && posted.wantsRecycle ? 'recycle' : 'accepted';
  }

  async #toResult(call: PostCall, body: KeptBody): Promise<Parameters<WorkerSession['serveResult']>[1]> {
    if (body.kind === 'oversized') return readOversized(body.bytes);
    if (body.kind === 'small') return readPostedResult(body.text);
    const reading = await this.#readLarge(call, body.blocks);
    return reading.kind === 'done' ? reading.posted : failedResult('the worker posted a result that could not be read');
  }

  async #readLarge(
    { kind, jobId }: PostCall,
    blocks: readonly Uint8Array<ArrayBuffer>[],
  ): Promise<Exclude<LargeReading, { readonly kind: 'closed' }>> {
    const reading = await this.#tools.large.read({ kind, blocks });
    if (reading.kind === 'closed') throw new Error('the agent stops before it has read a body');
    if (reading.kind === 'time' || reading.kind === 'died') {
      this.#tools.metrics.unreadableBodies.inc({ sign: reading.kind });
      this.#tools.log.warn('A body of a worker could not be read.', { kind, jobId, sign: reading.kind });
    }
    return reading;
  }
}
