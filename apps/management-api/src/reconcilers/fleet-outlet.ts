import type { NatsConnection } from '@nats-io/transport-node';
import { wakeSubject, type AssignmentSnapshot } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';
import type { SnapshotDirectory, SnapshotWriter } from '@berth/messaging';
import type { Assignments, FleetOutlet } from './fleet-outlet.port.js';

export interface NatsFleetOutletOptions {
  readonly connection: NatsConnection;
  readonly writer: Pick<SnapshotWriter<AssignmentSnapshot>, 'put' | 'delete'>;
  /** Of the same bucket: what is really in it, whoever wrote it. */
  readonly directory: Pick<SnapshotDirectory<AssignmentSnapshot>, 'start' | 'stop' | 'entries' | 'onChange'>;
}

/** Tells routers which workers there are, and agents that something is wanted of them. */
export class NatsFleetOutlet implements FleetOutlet {
  readonly #options: NatsFleetOutletOptions;
  /** The bucket's content as text: what was written last from here, until the watch says otherwise. */
  readonly #present = new Map<string, string>();
  #isLoaded = false;

  constructor(options: NatsFleetOutletOptions) {
    this.#options = options;
  }

  /** Resolves when the bucket has been read. */
  async start(): Promise<void> {
    const { directory } = this.#options;
    directory.onChange((key, snapshot) => {
      this.#note(key, snapshot);
    });
    await directory.start();
    for (const [key, snapshot] of directory.entries()) this.#note(key, snapshot);
    this.#isLoaded = true;
  }

  async stop(): Promise<void> {
    await this.#options.directory.stop();
  }

  async publishAssignments({ snapshots, unknown }: Assignments, beforeEach: () => void): Promise<void> {
    if (!this.#isLoaded) throw new Error('the bucket of assignments has not been read yet');
    const wanted = new Map<string, AssignmentSnapshot>(
      snapshots.filter(({ workers }) => workers.length > 0).map((each) => [each.endpointId, each]),
    );
    for (const [endpointId, snapshot] of wanted) {
      if (this.#present.get(endpointId) === JSON.stringify(snapshot)) continue;
      beforeEach();
      await this.#options.writer.put(endpointId, snapshot);
      this.#note(endpointId, snapshot);
    }
    for (const endpointId of [...this.#present.keys()]) {
      if (wanted.has(endpointId) || unknown.has(endpointId as EndpointId)) continue;
      beforeEach();
      await this.#options.writer.delete(endpointId);
      this.#note(endpointId, null);
    }
  }

  wake(hostId: HostId): void {
    this.#options.connection.publish(wakeSubject(hostId));
  }

  #note(key: string, snapshot: AssignmentSnapshot | null): void {
    if (snapshot === null) this.#present.delete(key);
    else this.#present.set(key, JSON.stringify(snapshot));
  }
}
