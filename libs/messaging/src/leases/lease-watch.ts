import { LEASE_MS, type LeaseKey } from '@berth/jobs';
import type { Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { BROKER_HEADERS } from '../broker/headers.js';
import { StreamTail } from '../broker/stream-tail.js';
import type { TailMessage } from '../broker/tail-session.js';
import { ENDPOINT_SHARDS, endpointShard } from '../topology/shards.js';
import { LEASE_MARKER_MS } from '../topology/streams.js';
import { leaseStream, leaseSubject, parseLeaseSubject } from '../topology/subjects.js';

export interface LeaseWatchOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** The broker's own word that a lease ran out; told again after every reset, so acting on it must be safe to repeat. */
  readonly onExpired: (key: LeaseKey, sequence: number) => void;
  readonly onInterrupted?: (stream: string, reason: string) => void;
}

/** `unseen`: never written, removed, or lost with the broker's memory. */
export type WatchedLease = 'live' | 'expired' | 'unseen';

interface Sighting {
  readonly state: 'live' | 'expired';
  readonly seenAtMs: number;
  /** The reset during or after which it was seen. */
  readonly round: number;
}

interface Shard {
  readonly tail: StreamTail;
  readonly seen: Map<string, Sighting>;
  round: number;
  /** Null while it is not known whether all is known. */
  resetAtMs: number | null;
}

/** A removal is told to nobody, so a lease that was not renewed for longer than it lives is forgotten. */
const LIVE_FORGOTTEN_MS = LEASE_MS + 10_000;
const SWEEP_INTERVAL_MS = 5_000;

/** What is known of every lease without asking: a view that informs maintenance and decides nothing. */
export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  readonly #shards: readonly Shard[];
  #stopSweep: (() => void) | undefined;
  #waiters: (() => void)[] = [];

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: ENDPOINT_SHARDS }, (_, shard) => this.#makeShard(shard));
  }

  start(): void {
    for (const { tail } of this.#shards) tail.start();
    this.#stopSweep ??= this.#options.clock.every(SWEEP_INTERVAL_MS, () => this.#sweep());
  }

  async stop(): Promise<void> {
    this.#stopSweep?.();
    await Promise.all(this.#shards.map(({ tail }) => tail.stop()));
  }

  /** Resolves when every lease that exists has been seen. */
  async caughtUp(): Promise<void> {
    while (!this.#isCaughtUp()) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  stateOf(key: LeaseKey): WatchedLease {
    return this.#shards[endpointShard(key.endpointId)]?.seen.get(leaseSubject(key))?.state ?? 'unseen';
  }

  /**
   * Since when the view has been whole, on the given clock. `unseen` says nothing about the time before; while the view
   * is not whole this is now.
   */
  get lastResetAtMs(): number {
    const instants = this.#shards.map(({ resetAtMs }) => resetAtMs ?? this.#options.clock.nowMs());
    return Math.max(...instants);
  }

  #isCaughtUp(): boolean {
    return this.#shards.every(({ resetAtMs }) => resetAtMs !== null);
  }

  #makeShard(number: number): Shard {
    const { broker, clock, onInterrupted } = this.#options;
    const stream = leaseStream(number);
    const shard: Shard = {
      seen: new Map(),
      round: 0,
      resetAtMs: null,
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
        onCaughtUp: () => this.#finishReset(shard),
        onInterrupted: (reason) => {
          shard.resetAtMs = null;
          onInterrupted?.(stream, reason);
        },
      }),
    };
    return shard;
  }

  #see(shard: Shard, { subject, sequence, headers }: TailMessage): void {
    const key = parseLeaseSubject(subject);
    if (key === null) {
      const reason = 'its subject names no attempt of a job';
      this.#options.broker.noteUnreadable({ place: 'leases', key: subject, reason });
      return;
    }
    const state = headers?.has(BROKER_HEADERS.markerReason) === true ? 'expired' : 'live';
    shard.seen.set(subject, { state, seenAtMs: this.#options.clock.nowMs(), round: shard.round });
    if (state === 'expired') this.#options.onExpired(key, sequence);
  }

  /** What was not told in this round is no longer there. */
  #finishReset(shard: Shard): void {
    for (const [subject, { round }] of shard.seen) if (round !== shard.round) shard.seen.delete(subject);
    shard.resetAtMs = this.#options.clock.nowMs();
    if (!this.#isCaughtUp()) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  #sweep(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const { seen } of this.#shards) {
      for (const [subject, { state, seenAtMs }] of seen) {
        const keptMs = state === 'live' ? LIVE_FORGOTTEN_MS : LEASE_MARKER_MS;
        if (nowMs - seenAtMs > keptMs) seen.delete(subject);
      }
    }
  }
}
