import type { NatsConnection } from '@nats-io/transport-node';
import { CONTROL_PULSE_SUBJECT, wakeSubject, type AssignmentSnapshot, type WakeMessage } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';
import { inParallel } from '@berth/lifecycle';
import { publishOneWay, type SnapshotDirectory, type SnapshotWriter } from '@berth/messaging';
import type { Assignments, FleetPublisher } from './fleet-publisher.port.js';

/** Each of another endpoint: one pass may change many. */
const WRITES_AT_ONCE = 16;

export interface NatsFleetOutletOptions {
  readonly connection: NatsConnection;
  readonly writer: Pick<SnapshotWriter<AssignmentSnapshot>, 'put' | 'delete'>;
  /** Of the same bucket: the content as it really is, by any writer. */
  readonly directory: Pick<
    SnapshotDirectory<AssignmentSnapshot>,
    'start' | 'stop' | 'entries' | 'onChange' | 'unreadable'
  >;
}

/** Tells routers which workers there are, and agents that something is wanted of them. */
export class NatsFleetPublisher implements FleetPublisher {
  readonly #options: NatsFleetOutletOptions;
  /** The bucket's content: what was written last from here, until the watch says otherwise. */
  readonly #present = new Map<string, Present>();
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

  assignmentOf(endpointId: EndpointId): AssignmentSnapshot | null {
    return this.#present.get(endpointId)?.snapshot ?? null;
  }

  async publishAssignments({ snapshots, unknown }: Assignments, beforeEach: () => void): Promise<void> {
    if (!this.#isLoaded) throw new Error('the bucket of assignments has not been read yet');
    const wanted = new Map<string, AssignmentSnapshot>(
      snapshots.filter(hasWorkers).map((each) => [each.endpointId, each]),
    );
    const changed = [...wanted].filter(([id, snapshot]) => this.#present.get(id)?.text !== JSON.stringify(snapshot));
    await inParallel(changed, WRITES_AT_ONCE, async ([endpointId, snapshot]) => {
      beforeEach();
      await this.#options.writer.put(endpointId, snapshot);
      this.#note(endpointId, snapshot);
    });
    const there = new Set([...this.#present.keys(), ...this.#options.directory.unreadable()]);
    const left = [...there].filter((id) => !wanted.has(id) && !unknown.has(id as EndpointId));
    await inParallel(left, WRITES_AT_ONCE, async (endpointId) => {
      beforeEach();
      await this.#options.writer.delete(endpointId);
      this.#note(endpointId, null);
    });
  }

  pulse(): void {
    this.#options.connection.publish(CONTROL_PULSE_SUBJECT);
  }

  wake(hostId: HostId, message: WakeMessage): void {
    publishOneWay(this.#options.connection, wakeSubject(hostId), message);
  }

  #note(key: string, snapshot: AssignmentSnapshot | null): void {
    if (snapshot === null) this.#present.delete(key);
    else this.#present.set(key, { snapshot, text: JSON.stringify(snapshot) });
  }
}

interface Present {
  readonly snapshot: AssignmentSnapshot;
  readonly text: string;
}

/** Those that are wanted count too: a job that waits for them must be able to say so. */
const hasWorkers = ({ outlook, workers }: AssignmentSnapshot): boolean =>
  workers.length > 0 || (outlook !== undefined && outlook.desired > 0);
