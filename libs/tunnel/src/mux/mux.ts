import type { Duplex } from 'node:stream';
import { TunnelError } from '../tunnel-error.js';
import type { LinkRefusal } from '../worker-link.port.js';
import { FrameError } from './frame-error.js';
import { encodeHead, FRAME, type ControlFrame, type OpenTarget, type StreamFrame } from './frame.js';
import { FrameReader } from './frame-reader.js';
import { KeepAlive } from './keep-alive.js';
import { LeftStreams } from './left-streams.js';
import type { MuxOptions, MuxRole } from './mux-role.js';
import { MuxStream } from './mux-stream.js';
import { Outbox } from './outbox.js';

/** Streams in one tunnel, with those that its sides have not both let go of. */
export const STREAMS_MAX = 32_768;

/** One for all: most requests end so at their host, and to note where an error was made takes long. */
const CUT = new TunnelError('It was cut at the other side.');

/** Many streams in one connection. Both sides of a tunnel have it; what they differ in is their role. */
export class Mux {
  readonly outbox: Outbox;
  readonly #knowsTraces: boolean;
  readonly #socket: Duplex;
  readonly #role: MuxRole;
  readonly #streams = new Map<number, MuxStream>();
  readonly #left = new LeftStreams();
  readonly #keepAlive: KeepAlive;
  /** Numbers are given once, in their order. */
  #lastId = 0;
  #cause: string | null = null;
  #lostCount = 0;
  #isOver = false;
  #wasLeft = false;
  #hasLeft = false;

  constructor({ clock, knowsTraces, socket }: MuxOptions, role: MuxRole) {
    this.#knowsTraces = knowsTraces;
    this.#socket = socket;
    this.#role = role;
    this.outbox = new Outbox(socket, () => this.lose('its peer reads no more'));
    this.#keepAlive = new KeepAlive(clock, {
      send: () => this.outbox.say(encodeHead(FRAME.ping, 0)),
      onSilent: () => this.lose('its peer answers no more'),
    });
    this.#listen();
  }

  /** Streams and questions that are not over on both sides. */
  get count(): number {
    return this.#streams.size + this.#left.count + this.#role.openCount();
  }

  /** This side has said that nothing begins any more. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** The other side lets nothing begin any more, and has said so. */
  get wasLeft(): boolean {
    return this.#wasLeft;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The number of the next stream; null where there are no more. */
  takeId(): number | null {
    if (this.#lastId >= 2 ** 32 - 1) return null;
    this.#lastId += 1;
    return this.#lastId;
  }

  begin(id: number): MuxStream {
    const stream = new MuxStream({
      ...{ id, outbox: this.outbox, knowsTraces: this.#knowsTraces },
      onClosed: (closed) => this.#forget(closed),
    });
    this.#streams.set(id, stream);
    // Its reader listens for itself; one that nobody has yet must not end the process.
    stream.on('error', () => undefined);
    return stream;
  }

  /** Of a question that nobody waits for: what still comes for it is dropped. */
  giveUp(id: number): void {
    if (this.#isOver) return;
    this.outbox.say(encodeHead(FRAME.reset, id));
    this.#left.add(id);
  }

  /** Says that nothing begins any more. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.outbox.say(encodeHead(FRAME.leave, 0));
  }

  /** Both sides are done with it. */
  end(): void {
    this.leave();
    this.#isOver = true;
    this.outbox.end();
  }

  /** With all that is in it. */
  lose(cause: string): void {
    this.#close(cause);
    this.#socket.destroy();
  }

  #listen(): void {
    const reader = new FrameReader({
      data: (id, piece) => this.#data(id, piece),
      control: (frame) => this.#control(frame),
    });
    this.#socket
      .on('data', (chunk: Buffer) => {
        if (this.#isOver) return;
        try {
          reader.read(chunk);
        } catch (error) {
          if (!(error instanceof FrameError)) throw error;
          this.lose(`its peer broke the rules: ${error.message}`);
        }
      })
      .on('error', (error: Error) => this.#close(error.message))
      // The other side has let go of it, or is gone.
      .once('end', () => this.#socket.end())
      .once('close', () => {
        if (!this.#wasLeft || this.count > 0) this.#close('its connection closed');
        this.#keepAlive.stop();
        this.#isOver = true;
        this.outbox.stop();
        this.#role.closed({ cause: this.#cause, requests: this.#lostCount });
      });
  }

  #data(id: number, piece: Buffer): void {
    if (this.#isOver) return;
    const stream = this.#streams.get(id);
    if (stream !== undefined) stream.receive(piece);
    else if (!this.#left.took(id, piece.length)) throw new FrameError(`bytes for ${id}, which is no stream`);
  }

  #control(frame: ControlFrame): void {
    if (this.#isOver) return;
    if ('id' in frame) this.#ofStream(frame);
    else if (frame.kind === 'ping') this.outbox.pong();
    else if (frame.kind === 'pong') this.#keepAlive.heard();
    else {
      this.#wasLeft = true;
      this.#role.changed();
    }
  }

  #ofStream(frame: StreamFrame): void {
    switch (frame.kind) {
      case 'open':
        this.#open(frame.id, frame.target);
        return;
      case 'admit':
        if (!this.#left.has(frame.id)) this.#role.admitted(frame.id);
        return;
      case 'refuse':
        this.#refuse(frame.id, frame.reason);
        return;
      case 'window':
        this.#window(frame.id, frame.bytes);
        return;
      case 'trace':
        this.#mustHaveBegun(frame.id);
        this.#streams.get(frame.id)?.receiveTrace(frame.traceparent);
        return;
      case 'end':
        this.#end(frame.id);
        return;
      case 'reset':
        this.#reset(frame.id);
        return;
      default:
        frame satisfies never;
    }
  }

  #open(id: number, target: OpenTarget): void {
    if (id !== this.#lastId + 1) throw new FrameError(`stream ${id} after ${this.#lastId}`);
    if (this.count >= STREAMS_MAX) throw new FrameError('more streams than a tunnel has');
    this.#lastId = id;
    this.#role.opened(id, target);
  }

  #refuse(id: number, reason: LinkRefusal): void {
    if (!this.#left.drop(id) && !this.#role.refused(id, reason)) throw new FrameError(`a refusal of ${id}`);
    this.#role.changed();
  }

  /** It may have crossed the end of its stream, of which nothing is left then. */
  #window(id: number, bytes: number): void {
    this.#mustHaveBegun(id);
    this.#streams.get(id)?.addCredit(bytes);
  }

  #end(id: number): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) stream.receiveEnd();
    else if (!this.#left.ended(id)) throw new FrameError(`the end of ${id}, which is no stream`);
    if (stream === undefined) this.#role.changed();
  }

  #reset(id: number): void {
    this.#mustHaveBegun(id);
    const stream = this.#streams.get(id);
    if (stream !== undefined) {
      this.#streams.delete(id);
      this.outbox.say(encodeHead(FRAME.reset, id));
      stream.destroy(CUT);
    } else if (!this.#left.drop(id) && this.#role.givenUp(id)) this.outbox.say(encodeHead(FRAME.reset, id));
    this.#role.changed();
  }

  #mustHaveBegun(id: number): void {
    if (id > this.#lastId) throw new FrameError(`stream ${id} before it was opened`);
  }

  #forget(stream: MuxStream): void {
    // It was reset, and answered, where it is not here any more.
    if (!this.#streams.delete(stream.id) || this.#isOver) return;
    const { hasEnded, id, wasEnded, window } = stream;
    if (!hasEnded || !wasEnded) {
      this.outbox.say(encodeHead(FRAME.reset, id));
      this.#left.add(id, { window, hasEnded, wasEnded });
    }
    this.#role.changed();
  }

  #close(cause: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cause = cause;
    this.#lostCount = this.#streams.size + this.#role.openCount();
    this.outbox.stop();
    for (const stream of this.#streams.values())
      stream.destroy(new TunnelError(`The way to the worker is lost: ${cause}.`));
    this.#streams.clear();
  }
}
