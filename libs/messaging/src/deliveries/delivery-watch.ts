import type { DeliveryKey } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { StreamTail } from '../broker/stream-tail.js';
import type { TailMessage } from '../broker/tail-session.js';
import { DELIVERY_SHARDS, deliveryShard } from '../topology/shards.js';
import { deliveryStream, deliverySubject } from '../topology/subjects.js';
import { readDeliverySighting, type PendingDelivery } from './delivery-headers.js';

export interface DeliveryWatchOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** A delivery was made or changed; told again after every interruption. */
  readonly onSeen: (key: DeliveryKey) => void;
  /** The watch was interrupted, or the fill could not be read. */
  readonly onError: (error: unknown) => void;
}

interface Shard {
  readonly tail: StreamTail;
  /** By subject. */
  readonly pending: Map<string, { readonly pending: PendingDelivery; readonly round: number }>;
  round: number;
  fill: number;
}

const FILL_INTERVAL_MS = 10_000;

/** Every pending delivery, known without asking: a view that says where to look and decides nothing. */
export class DeliveryWatch {
  readonly #options: DeliveryWatchOptions;
  readonly #shards: readonly Shard[];
  readonly #fillLoop: ControlLoop;

  constructor(options: DeliveryWatchOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: DELIVERY_SHARDS }, (_, number) => this.#makeShard(number));
    this.#fillLoop = new ControlLoop({
      name: 'webhook.fill',
      intervalMs: FILL_INTERVAL_MS,
      clock: options.clock,
      run: () => this.#readFill(),
      onError: (_, error) => options.onError(error),
    });
  }

  start(): void {
    for (const { tail } of this.#shards) tail.start();
    this.#fillLoop.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#fillLoop.stop(), ...this.#shards.map(({ tail }) => tail.stop())]);
  }

  /** Share of the fullest stream's room that is taken, 0 to 1. */
  get fill(): number {
    return Math.max(...this.#shards.map(({ fill }) => fill));
  }

  *pending(): Generator<PendingDelivery> {
    for (const shard of this.#shards) for (const { pending } of shard.pending.values()) yield pending;
  }

  get size(): number {
    return this.#shards.reduce((sum, { pending }) => sum + pending.size, 0);
  }

  /** It is gone: an expiry or a purge is told to nobody. */
  forget(key: DeliveryKey): void {
    this.#shards[deliveryShard(key.jobId)]?.pending.delete(deliverySubject(key));
  }

  #makeShard(number: number): Shard {
    const { broker, clock, onError } = this.#options;
    const stream = deliveryStream(number);
    const shard: Shard = {
      pending: new Map(),
      round: 0,
      fill: 0,
      tail: new StreamTail({
        broker,
        clock,
        stream,
        isHeadersOnly: true,
        start: 'everything',
        onStart: () => {
          shard.round += 1;
        },
        onMessage: (message) => this.#see(shard, message),
        onCaughtUp: () => {
          for (const [subject, { round }] of shard.pending) if (round !== shard.round) shard.pending.delete(subject);
        },
        onInterrupted: (reason) => onError(new Error(`stream ${stream}: ${reason}`)),
      }),
    };
    return shard;
  }

  #see(shard: Shard, message: TailMessage): void {
    const sighting = readDeliverySighting(message);
    if (sighting === null) {
      shard.pending.delete(message.subject);
      const reason = "its subject and headers are no delivery's";
      this.#options.broker.noteUnreadable({ place: 'deliveries', key: message.subject, reason });
      return;
    }
    if (sighting.kind === 'over') shard.pending.delete(message.subject);
    else shard.pending.set(message.subject, { pending: sighting.pending, round: shard.round });
    this.#options.onSeen(sighting.kind === 'over' ? sighting.key : sighting.pending);
  }

  async #readFill(): Promise<void> {
    for (const [number, shard] of this.#shards.entries()) {
      const { config, state } = await this.#options.broker.manager.streams.info(deliveryStream(number));
      shard.fill = config.max_bytes > 0 ? state.bytes / config.max_bytes : 0;
    }
  }
}
