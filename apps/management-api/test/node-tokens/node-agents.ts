import { createHash } from 'node:crypto';
import { hostSubject, inboxPrefix, type HostReply } from '@berth/contracts';
import { hostOfNode, type ClusterNode, type HostId, type Inventory } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ManagementBench } from '../management-bench.js';

const INVENTORY: Inventory = {
  ...{ vcpus: 4, isOvercommitted: false, memoryBytes: 8_000_000_000, diskBytes: 50_000_000_000, gpus: [] },
  ...{ areGpusSimulated: false, cudaVersion: null, runtime: 'kubernetes', images: [] },
};
const ASK = { timeoutMs: 5_000 };

/** What agents on nodes say to the broker, with any token and secret. */
export class NodeAgents {
  readonly #bench: Pick<ManagementBench, 'nats'>;

  constructor(bench: Pick<ManagementBench, 'nats'>) {
    this.#bench = bench;
  }

  /** @throws AuthorizationError where the broker lets it not in */
  connect(id: HostId, user: string, pass: string): Promise<NatsConnection> {
    const as = { user, pass, inboxPrefix: inboxPrefix(id) };
    return this.#bench.nats.connect({ ...as, maxReconnectAttempts: 0, reconnect: false });
  }

  /** What an agent does whose home is empty. */
  async join(node: ClusterNode, token: string, secret: string): Promise<HostId> {
    const id = hostOfNode(node);
    const connection = await this.connect(id, 'join', token);
    try {
      await this.askToJoin(connection, { id, token, secret });
    } finally {
      await connection.close();
    }
    return id;
  }

  /** As whichever host, over a connection that is there. */
  async askToJoin(
    connection: NatsConnection,
    { id, secret, token }: { readonly id: HostId; readonly token: string; readonly secret: string },
  ): Promise<void> {
    const secretHash = createHash('sha256').update(secret).digest('hex');
    const request = { token, secretHash, inventory: INVENTORY };
    await new AgentTransport(connection).request(hostSubject(id, 'join'), request, ASK);
  }

  async report(id: HostId, secret: string): Promise<HostReply> {
    const connection = await this.connect(id, id, secret);
    const body = { secret, instanceId: 'i1', sequence: 1, inventory: INVENTORY, workers: [] };
    try {
      return (await new AgentTransport(connection).request(hostSubject(id, 'report'), body, ASK)) as HostReply;
    } finally {
      await connection.close();
    }
  }
}
