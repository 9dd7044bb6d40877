import type { JobId } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Broker } from '../broker/broker.js';
import { JOB_SHARDS } from '../topology/shards.js';
import { STREAMS, blobStream } from '../topology/subjects.js';

export interface BlobRoomsOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** What was seen last stays in force while the broker does not answer. */
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

const BLOB_STREAMS = Array.from({ length: JOB_SHARDS }, (_, shard) => blobStream(shard));

/** How full the streams of large inputs and outputs are: one question per stream and interval, and none per job. */
export class BlobRooms {
  readonly #options: BlobRoomsOptions;
  readonly #loop: ControlLoop;
  readonly #rooms = new Map<string, Room>();

  constructor(options: BlobRoomsOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'blob.rooms',
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

  /** Share of the room that is taken where the job's large input would lie; 0 while that is not known. */
  fillOf(jobId: JobId): number {
    return this.#fillOf(STREAMS.blobs(jobId));
  }

  /** Share of the fullest of them. */
  get fullest(): number {
    return Math.max(...BLOB_STREAMS.map((stream) => this.#fillOf(stream)));
  }

  /** So much is about to be written, and counts until the stream is looked at again. */
  bring(jobId: JobId, bytes: number): void {
    const room = this.#rooms.get(STREAMS.blobs(jobId));
    if (room !== undefined) room.broughtBytes += bytes;
  }

  #fillOf(stream: string): number {
    const room = this.#rooms.get(stream);
    return room === undefined || room.maxBytes === 0 ? 0 : (room.takenBytes + room.broughtBytes) / room.maxBytes;
  }

  async #look(signal: AbortSignal): Promise<void> {
    for (const stream of BLOB_STREAMS) {
      if (signal.aborted) return;
      const { config, state } = await this.#options.broker.manager.streams.info(stream);
      const maxBytes = Math.max(0, config.max_bytes);
      this.#rooms.set(stream, { takenBytes: state.bytes, maxBytes, broughtBytes: 0 });
    }
  }
}
