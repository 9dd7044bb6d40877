import type { JobId } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { JOB_SHARDS } from '../topology/shards.js';
import { STREAMS, blobStream, chunkStream } from '../topology/subjects.js';

export interface AttachmentRoomsOptions {
  readonly kind: 'blobs' | 'chunks';
  readonly broker: Broker;
  readonly clock: Clock;
  /** The numbers that were seen last stay in force while the broker does not answer. */
  readonly onError: (error: unknown) => void;
}

interface Room {
  readonly takenBytes: number;
  /** 0: as much as comes. */
  readonly maxBytes: number;
  /** Brought here since the stream was looked at. */
  broughtBytes: number;
}

const INTERVAL_MS = 2_000;

const STREAM_OF = { blobs: blobStream, chunks: chunkStream } as const;

/** How full the streams are of what lies beside the logs, of one kind: one question per stream and interval, and none per job. */
export class AttachmentRooms {
  readonly #options: AttachmentRoomsOptions;
  readonly #loop: ControlLoop;
  readonly #streams: readonly string[];
  readonly #rooms = new Map<string, Room>();

  constructor(options: AttachmentRoomsOptions) {
    this.#options = options;
    this.#streams = Array.from({ length: JOB_SHARDS }, (_, shard) => STREAM_OF[options.kind](shard));
    this.#loop = new ControlLoop({
      name: `${options.kind}.rooms`,
      intervalMs: INTERVAL_MS,
      clock: options.clock,
      run: (signal) => this.#look(signal),
      onError: (_name, error) => options.onError(error),
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Share of the room that is taken where what the job has would lie; 0 while that is not known. */
  fillOf(jobId: JobId): number {
    return this.#fillOf(this.#streamOf(jobId));
  }

  /** Bytes that are left there; as many as you like while that is not known. */
  freeBytesOf(jobId: JobId): number {
    const room = this.#rooms.get(this.#streamOf(jobId));
    if (room === undefined || room.maxBytes === 0) return Number.MAX_SAFE_INTEGER;
    return Math.max(0, room.maxBytes - room.takenBytes - room.broughtBytes);
  }

  /** Share of the fullest of them. */
  get fullest(): number {
    return Math.max(...this.#streams.map((stream) => this.#fillOf(stream)));
  }

  /** So much is about to be written, and counts until the stream is looked at again. */
  bring(jobId: JobId, bytes: number): void {
    const room = this.#rooms.get(this.#streamOf(jobId));
    if (room !== undefined) room.broughtBytes += bytes;
  }

  #streamOf(jobId: JobId): string {
    return STREAMS[this.#options.kind](jobId);
  }

  #fillOf(stream: string): number {
    const room = this.#rooms.get(stream);
    return room === undefined || room.maxBytes === 0 ? 0 : (room.takenBytes + room.broughtBytes) / room.maxBytes;
  }

  async #look(signal: AbortSignal): Promise<void> {
    for (const stream of this.#streams) {
      if (signal.aborted) return;
      const { config, state } = await this.#options.broker.manager.streams.info(stream);
      const maxBytes = Math.max(0, config.max_bytes);
      this.#rooms.set(stream, { takenBytes: state.bytes, maxBytes, broughtBytes: 0 });
    }
  }
}
