import type { Duplex } from 'node:stream';
import { Shares, type EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { canBeSaid, encodeOpen, FrameError, Mux, STREAMS_MAX, type MuxRole } from './mux/index.js';
import type { LinkAnswer, LinkRefusal, LinkTarget, LinkWish } from './worker-link.port.js';

export interface HostTunnelOptions {
  /** The host's connection, of which nothing has been read. */
  readonly socket: Duplex;
  readonly clock: Clock;
  /** Whether the host can be told of traces. */
  readonly knowsTraces: boolean;
  /** Requests at one time; other than the default only in a test. */
  readonly streamsMax?: number;
  /** Called once. @param cause why it was lost; null where the host closed it in order */
  readonly onClosed: (cause: string | null) => void;
}

type Settle = (answer: LinkAnswer) => void;

const refused = (reason: LinkRefusal): LinkAnswer => ({ kind: 'refused', reason });

/** A router's end of the tunnel that a host opened. The host dialled, and from then on it is the one that answers. */
export class HostTunnel {
  readonly #mux: Mux;
  /** Of its streams, for each endpoint. */
  readonly #shares: Shares<EndpointId>;
  /** By the number of the stream that they would get. */
  readonly #asked = new Map<number, Settle>();

  constructor({ clock, knowsTraces, onClosed, socket, streamsMax = STREAMS_MAX }: HostTunnelOptions) {
    this.#shares = new Shares(streamsMax);
    const role: MuxRole = {
      ...{ opened: refuseToAnswer, givenUp: () => false, openCount: () => this.#asked.size },
      ...{ admitted: (id) => this.#admitted(id), refused: (id, reason) => this.#refused(id, reason) },
      changed: () => this.#endWhenDone(),
      closed: ({ cause }) => {
        for (const settle of this.#asked.values()) settle(refused('no-way'));
        onClosed(cause);
      },
    };
    this.#mux = new Mux({ socket, clock, knowsTraces }, role);
  }

  /** Whether requests may still begin in it. */
  get isOpen(): boolean {
    return !this.#mux.hasLeft && !this.#mux.wasLeft && !this.#mux.isOver;
  }

  open(target: LinkTarget, signal: AbortSignal, { mayWait = false }: LinkWish = {}): Promise<LinkAnswer> {
    if (signal.aborted) return Promise.resolve(refused('timed-out'));
    if (!canBeSaid(target)) return Promise.resolve(refused('unknown-worker'));
    if (!this.#shares.hasRoomFor(target.endpointId, 1)) return Promise.resolve(refused('full'));
    const id = this.isOpen && this.#mux.count < STREAMS_MAX ? this.#mux.takeId() : null;
    if (id === null) return Promise.resolve(refused('no-way'));
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#mux.giveUp(id);
        settle(refused('timed-out'));
      };
      const settle = (answer: LinkAnswer): void => {
        this.#asked.delete(id);
        signal.removeEventListener('abort', giveUp);
        const release = (): void => this.#shares.add(target.endpointId, -1);
        if (answer.kind === 'admitted') answer.stream.once('close', release);
        else release();
        resolve(answer);
      };
      this.#shares.add(target.endpointId, 1);
      this.#asked.set(id, settle);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#mux.outbox.say(encodeOpen(id, { ...target, mayWait }));
    });
  }

  /** No request begins in it any more; it closes after the last one. */
  close(): void {
    this.#mux.leave();
    this.#endWhenDone();
  }

  /** Ends it with all that is in it. */
  cut(reason: string): void {
    this.#mux.lose(reason);
  }

  #admitted(id: number): void {
    const settle = this.#asked.get(id);
    if (settle === undefined) throw new FrameError(`an admission of ${id}`);
    settle({ kind: 'admitted', stream: this.#mux.begin(id) });
  }

  #refused(id: number, reason: LinkRefusal): boolean {
    const settle = this.#asked.get(id);
    settle?.(refused(reason));
    return settle !== undefined;
  }

  /** Only a router opens streams, so it knows when none comes any more. */
  #endWhenDone(): void {
    if ((this.#mux.hasLeft || this.#mux.wasLeft) && !this.#mux.isOver && this.#mux.count === 0) this.#mux.end();
  }
}

function refuseToAnswer(): never {
  throw new FrameError('a question of a host');
}
