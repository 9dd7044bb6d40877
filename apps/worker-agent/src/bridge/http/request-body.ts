import type { IncomingMessage } from 'node:http';
import { ByteBlocks, type TurnPace } from '@berth/lifecycle';
import type { BodyMemory } from '../bodies/body-queue.js';
import { BRIDGE_BODY_MAX_BYTES } from '../bridge.port.js';
import { textOf } from '@berth/contracts';

/** A body up to this is read and understood at once; a larger one needs room, and a thread to read it in. */
export const SMALL_BODY_MAX_BYTES = 64 * 1024;
/** Past this the connection is cut: nobody posts so much by mistake. */
const READ_MAX_BYTES = 2 ** 30;
/** A piece costs the same however small it is: after so many they must have had this size on average. */
const CRUMBS_MAX = 4_096;
const PIECE_LEAST_BYTES = 64;

export type RequestBody =
  | { readonly kind: 'small'; readonly text: string }
  | { readonly kind: 'large'; readonly blocks: readonly Uint8Array<ArrayBuffer>[] }
  /** It was read to its end and forgotten, so that its sender hears an answer. */
  | { readonly kind: 'oversized'; readonly bytes: number }
  /** It was large, and nobody waited for it. */
  | { readonly kind: 'unwanted' }
  /** `slow`: it hardly came, and had to give way to others. `crumbs`: it came in far too many pieces. */
  | { readonly kind: 'refused'; readonly reason: 'slow' | 'crumbs' }
  /** The sender hung up. */
  | { readonly kind: 'cut' };

export interface BodyReading {
  readonly pace: TurnPace;
  /** Where a large body is kept. */
  readonly room: BodyMemory;
  /** Asked once, of a large body, before it is kept. */
  readonly isWanted: () => boolean;
}

/** The whole body, whatever its content type says: the SDK labels its JSON as a form. */
export function readBody(request: IncomingMessage, reading: BodyReading): Promise<RequestBody> {
  return new BodyReader(request, reading).run();
}

class BodyReader {
  readonly #request: IncomingMessage;
  readonly #pace: TurnPace;
  readonly #room: BodyMemory;
  readonly #isWanted: () => boolean;
  readonly #kept = new ByteBlocks();
  readonly #body = Promise.withResolvers<RequestBody>();
  #bytes = 0;
  #pieces = 0;
  #isLarge = false;
  /** For room. */
  #isWaiting = false;
  /** Set once the rest is read only to reach its end. */
  #isDiscarding = false;

  constructor(request: IncomingMessage, { pace, room, isWanted }: BodyReading) {
    this.#request = request;
    this.#pace = pace;
    this.#room = room;
    this.#isWanted = isWanted;
  }

  run(): Promise<RequestBody> {
    const request = this.#request;
    if (announcedBytes(this.#request) > BRIDGE_BODY_MAX_BYTES) this.#discard();
    this.#room.slow.addEventListener('abort', () => this.#refuse('slow'), { once: true });
    request.on('data', (chunk: Buffer) => this.#take(chunk));
    request.once('end', () => this.#body.resolve(this.#whole()));
    request.once('close', () => this.#body.resolve({ kind: 'cut' }));
    // Followed by `close`, which says what is needed.
    request.once('error', () => this.#body.resolve({ kind: 'cut' }));
    return this.#body.promise;
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.byteLength;
    this.#pieces += 1;
    if (this.#pieces > CRUMBS_MAX && this.#bytes < this.#pieces * PIECE_LEAST_BYTES) this.#refuse('crumbs');
    if (this.#bytes > READ_MAX_BYTES) this.#request.destroy();
    if (this.#bytes > BRIDGE_BODY_MAX_BYTES) this.#discard();
    if (!this.#isDiscarding) this.#keep(chunk);
    if (this.#pace.isFullWith(chunk.byteLength)) this.#pauseUntilNextTurn();
  }

  #keep(chunk: Buffer): void {
    this.#kept.add(chunk);
    this.#room.noteArrived(chunk.byteLength);
    if (this.#isLarge || this.#bytes <= SMALL_BODY_MAX_BYTES) return;
    this.#isLarge = true;
    if (this.#isWanted()) void this.#findRoom();
    else this.#drop();
  }

  #pauseUntilNextTurn(): void {
    this.#request.pause();
    this.#pace.nextTurn(() => {
      if (!this.#isWaiting) this.#request.resume();
    });
  }

  /** The sender is not listened to until there is room for all that it has to say. */
  async #findRoom(): Promise<void> {
    this.#isWaiting = true;
    this.#request.pause();
    await this.#room.admit(Math.min(announcedBytes(this.#request), BRIDGE_BODY_MAX_BYTES));
    // Where there is none the sender has hung up, which `close` tells.
    this.#isWaiting = false;
    this.#request.resume();
  }

  #drop(): void {
    this.#discard();
    this.#body.resolve({ kind: 'unwanted' });
  }

  #refuse(reason: 'slow' | 'crumbs'): void {
    this.#discard();
    this.#body.resolve({ kind: 'refused', reason });
  }

  #discard(): void {
    if (this.#isDiscarding) return;
    this.#isDiscarding = true;
    this.#kept.clear();
    this.#room.release();
  }

  #whole(): RequestBody {
    if (this.#bytes > BRIDGE_BODY_MAX_BYTES) return { kind: 'oversized', bytes: this.#bytes };
    this.#room.noteWhole();
    const blocks = this.#kept.take();
    if (this.#isLarge) return { kind: 'large', blocks };
    return { kind: 'small', text: textOf(Buffer.concat(blocks)) };
  }
}

/** Without a length any body may be as large as the largest. */
export function announcedBytes({ headers }: IncomingMessage): number {
  const length = headers['content-length'];
  return length === undefined ? BRIDGE_BODY_MAX_BYTES : Number(length);
}
