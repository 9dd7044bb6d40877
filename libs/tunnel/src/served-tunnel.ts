import type { Duplex } from 'node:stream';
import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Traces } from '@berth/telemetry';
import { join } from './join.js';
import {
  encodeHead,
  encodeRefuse,
  FRAME,
  FrameError,
  Mux,
  type MuxEnd,
  type MuxRole,
  type OpenTarget,
} from './mux/index.js';
import { requestAttributes } from './request-attributes.js';
import type { LinkRefusal, LinkTarget, WorkerLink } from './worker-link.port.js';

export interface ServedTunnelOptions {
  readonly hostId: HostId;
  /** The way to this host's own workers. */
  readonly link: WorkerLink;
  readonly clock: Clock;
  readonly traces: Pick<Traces, 'isOn' | 'step'>;
  /** The connection to the router, of which nothing has been read. */
  readonly socket: Duplex;
  /** Called once. */
  readonly onClosed: (end: MuxEnd) => void;
}

/** One for all: what Node makes where none is given was the largest single function in a profile of the agent. */
const GIVEN_UP = new Error('The request is over.');

/** A host's end of the tunnel to a router: it answers what comes by a link of this host. */
export class ServedTunnel {
  readonly #options: ServedTunnelOptions;
  readonly #mux: Mux;
  /** Questions that the link has, by the number of the stream that they would get. */
  readonly #asked = new Map<number, AbortController>();

  constructor(options: ServedTunnelOptions) {
    this.#options = options;
    const { clock, onClosed, socket } = options;
    const role: MuxRole = {
      opened: (id, target) => {
        if (this.#mux.hasLeft) this.#refuse(id, 'leaving');
        else void this.#answer(id, target);
      },
      ...{ admitted: refuseToAsk, refused: () => false, changed: () => undefined },
      ...{ givenUp: (id) => this.#giveUp(id), openCount: () => this.#asked.size },
      closed: (end) => {
        for (const id of this.#asked.keys()) this.#giveUp(id);
        onClosed(end);
      },
    };
    this.#mux = new Mux({ socket, clock, knowsTraces: false }, role);
  }

  /** What is under way goes on, and nothing begins any more; the router closes it after the last one. */
  leave(): void {
    this.#mux.leave();
  }

  /** Ends it with all that is in it. */
  cut(reason: string): void {
    this.#mux.lose(reason);
  }

  async #answer(id: number, { endpointId, mayWait, workerId }: OpenTarget): Promise<void> {
    const { hostId, link, traces } = this.#options;
    const target = { hostId, endpointId, workerId };
    const giveUp = new AbortController();
    this.#asked.set(id, giveUp);
    // Each tunnel is one router's, which has a share of each worker.
    const wish = { mayWait, asker: this };
    const opened = await link.open(target, giveUp.signal, wish);
    const isWanted = this.#asked.delete(id);
    if (opened.kind === 'refused') {
      if (isWanted) this.#refuse(id, opened.reason);
    } else if (isWanted) {
      this.#mux.outbox.say(encodeHead(FRAME.admit, id));
      const stream = this.#mux.begin(id);
      if (traces.isOn) stream.onTrace = (traceparent) => this.#record(stream, target, traceparent);
      join(stream, opened.stream);
    } else opened.stream.destroy();
  }

  /** From when the worker has the connection until it is closed. */
  #record(stream: Duplex, target: LinkTarget, traceparent: string): void {
    const step = this.#options.traces.step(traceparent);
    stream.once('close', () => step?.end({ name: 'carry request', attributes: requestAttributes(target) }));
  }

  #refuse(id: number, reason: LinkRefusal): void {
    this.#mux.outbox.say(encodeRefuse(id, reason));
  }

  #giveUp(id: number): boolean {
    this.#asked.get(id)?.abort(GIVEN_UP);
    return this.#asked.delete(id);
  }
}

function refuseToAsk(): never {
  throw new FrameError('an answer of a router');
}
