import { Duplex } from 'node:stream';
import { ReceiveWindow, SendCredit } from './credit.js';
import { FrameError } from './frame-error.js';
import type { LinkStream } from '../worker-link.port.js';
import { DATA_MAX_BYTES, encodeHead, encodeTrace, encodeWindow, FRAME } from './frame.js';
import type { Outbox, Sender } from './outbox.js';

type Written = (error?: Error | null) => void;

export interface MuxStreamOptions {
  readonly id: number;
  readonly outbox: Outbox;
  readonly knowsTraces: boolean;
  /** Called once, when nothing comes or goes any more. */
  readonly onClosed: (stream: MuxStream) => void;
}

/** A piece that is less than such a share of what it was cut from keeps too much of it from being freed. */
const SHARE_MIN = 4;

/** One stream of a tunnel. Each half ends for itself; one that is destroyed before both have ended is reset. */
export class MuxStream extends Duplex implements LinkStream, Sender {
  readonly id: number;
  readonly window = new ReceiveWindow();
  /** Told once of the step that the other side says this stream is. */
  onTrace: ((traceparent: string) => void) | null = null;
  readonly #knowsTraces: boolean;
  readonly #outbox: Outbox;
  readonly #onClosed: (stream: MuxStream) => void;
  readonly #credit = new SendCredit();
  #pending: Buffer[] = [];
  #written: Written | null = null;
  #hasEnded = false;
  #wasEnded = false;

  constructor({ id, knowsTraces, onClosed, outbox }: MuxStreamOptions) {
    super({ allowHalfOpen: true });
    this.id = id;
    this.#knowsTraces = knowsTraces;
    this.#outbox = outbox;
    this.#onClosed = onClosed;
  }

  /** This side has said all. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The other side has said all. */
  get wasEnded(): boolean {
    return this.#wasEnded;
  }

  get canSend(): boolean {
    return this.#pending.length > 0 && this.#credit.bytes > 0;
  }

  tellTrace(traceparent: string): void {
    if (this.#knowsTraces) this.#outbox.say(encodeTrace(this.id, traceparent));
  }

  receiveTrace(traceparent: string): void {
    const tell = this.onTrace;
    this.onTrace = null;
    tell?.(traceparent);
  }

  /** @throws FrameError where the other side may not send it */
  receive(piece: Buffer): void {
    if (this.#wasEnded) throw new FrameError('bytes after the end of a stream');
    this.window.take(piece.length);
    const mustWait = this.readableFlowing !== true || this.readableLength > 0;
    const isSmall = piece.length * SHARE_MIN < piece.buffer.byteLength;
    this.push(mustWait && isSmall ? Buffer.from(piece) : piece);
    this.#giveBack();
  }

  /** @throws FrameError where the other side had said so before */
  receiveEnd(): void {
    if (this.#wasEnded) throw new FrameError('a second end of a stream');
    this.#wasEnded = true;
    this.push(null);
  }

  /** @throws FrameError where it gives more than there was */
  addCredit(bytes: number): void {
    this.#credit.add(bytes);
    if (this.#pending.length > 0) this.#outbox.add(this);
  }

  sendInto(batch: Buffer[]): number {
    const mostBytes = Math.min(DATA_MAX_BYTES, this.#credit.bytes);
    if (this.#pending.length === 0 || mostBytes === 0) return 0;
    const headAt = batch.push(encodeHead(FRAME.data, this.id)) - 1;
    const bytes = this.#move(batch, mostBytes);
    batch[headAt]?.writeUIntBE(bytes, 1, 3);
    this.#credit.spend(bytes);
    if (this.#pending.length === 0) this.#settle();
    return bytes;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: Written): void {
    this.#send([chunk], written);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], written: Written): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      written,
    );
  }

  /** Only a side that has said all comes here: what was cut is reset and has no end. */
  override _final(finished: Written): void {
    this.#hasEnded = true;
    this.#outbox.say(encodeHead(FRAME.end, this.id));
    finished();
  }

  /** Nothing is asked for: what comes is bounded by the window. */
  override _read(): void {}

  /** All that waited leaves here; the rest was read where it came. */
  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    if (chunk !== null) this.#giveBack();
    return chunk;
  }

  override _destroy(error: Error | null, destroyed: Written): void {
    this.#pending = [];
    this.#outbox.remove(this);
    this.#onClosed(this);
    destroyed(error);
  }

  #send(chunks: readonly Buffer[], written: Written): void {
    for (const chunk of chunks) if (chunk.length > 0) this.#pending.push(chunk);
    if (this.#pending.length === 0) {
      written();
      return;
    }
    this.#written = written;
    if (this.#credit.bytes > 0) this.#outbox.add(this);
  }

  /** @returns how many bytes went from what is pending into the batch */
  #move(batch: Buffer[], mostBytes: number): number {
    let [moved, bytes] = [0, 0];
    for (const chunk of this.#pending) {
      const left = mostBytes - bytes;
      if (chunk.length > left) {
        if (left > 0) batch.push(chunk.subarray(0, left));
        this.#pending[moved] = chunk.subarray(left);
        bytes += left;
        break;
      }
      batch.push(chunk);
      bytes += chunk.length;
      moved += 1;
    }
    this.#pending = moved === this.#pending.length ? [] : this.#pending.slice(moved);
    return bytes;
  }

  #settle(): void {
    const written = this.#written;
    this.#written = null;
    written?.();
  }

  #giveBack(): void {
    // There is nothing to come, or nobody to read it.
    if (this.#wasEnded || this.destroyed) return;
    const bytes = this.window.give(this.readableLength);
    if (bytes > 0) this.#outbox.say(encodeWindow(this.id, bytes));
  }
}
