import {
  DATA_CENTER_DEFAULT,
  TOKEN_LIFE_DEFAULT_SECONDS,
  type CreateJoinTokenDto,
  type HostAction,
  type HostBody,
  type HostDetailBody,
} from '@berth/contracts/http';
import {
  PlatformError,
  fieldChanges,
  hostOfNode,
  suspectHosts,
  type ClusterNode,
  type HardwareCatalog,
  type HostId,
  type HostIntent,
} from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { AuditAction, HostRecord, Transactions } from '../persistence/index.js';
import type { AuditStore } from '../audit/index.js';
import type { ControlSnapshots } from '../snapshots/index.js';
import { toHostBody, toHostWorkerBody } from './host.mapper.js';
import { newHost, type HostsStore, type NodeInvitation } from './hosts.store.js';

/** Makes the one-time token of a host, as the sessions of agents understand it. */
type MakeJoinToken = (hostId: HostId) => { readonly token: string; readonly hash: string };

export interface HostsServiceOptions {
  readonly catalog: HardwareCatalog;
  readonly records: HostsStore;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
  readonly snapshots: ControlSnapshots;
  readonly clock: Clock;
  readonly random: Random;
  readonly makeJoinToken: MakeJoinToken;
  /** Called once a removal is committed. Losing it costs time only. */
  readonly onRemoved: () => void;
}

const ID_LENGTH = 12;

type IntentAction = Exclude<HostAction, 'readmit'>;

const INTENT_OF_ACTION: Readonly<Record<IntentAction, HostIntent>> = {
  cordon: 'cordoned',
  uncordon: 'ready',
  drain: 'draining',
};

const AUDIT_OF_ACTION = {
  cordon: 'host.cordoned',
  uncordon: 'host.uncordoned',
  drain: 'host.draining',
} as const satisfies Record<IntentAction, AuditAction>;

export interface NodeInvitationOptions {
  readonly dataCenterId: string;
  /** Lower-case hex SHA-256 of the token. */
  readonly tokenHash: string;
  readonly tokenExpiresAtMs: number;
}

/** Machines of the installation; for operators. */
export class HostsService {
  readonly #options: HostsServiceOptions;

  constructor(options: HostsServiceOptions) {
    this.#options = options;
  }

  /** A host that may join once with the token, which is in the answer this once. */
  async invite(
    caller: Caller,
    dto: CreateJoinTokenDto,
  ): Promise<{ readonly hostId: HostId; readonly token: string; readonly expiresAtMs: number }> {
    const { audit, clock, makeJoinToken, random, records, snapshots, transactions } = this.#options;
    const nowMs = clock.nowMs();
    const host = newHost({
      id: random.id(ID_LENGTH) as HostId,
      name: dto.name,
      dataCenterId: dto.dataCenterId ?? DATA_CENTER_DEFAULT,
      labels: dto.labels ?? {},
      createdAtMs: nowMs,
    });
    const { hash, token } = makeJoinToken(host.id);
    const expiresAtMs = nowMs + (dto.expiresInSeconds ?? TOKEN_LIFE_DEFAULT_SECONDS) * 1000;
    await transactions.run(async () => {
      await records.insert({ host, tokenHash: hash, tokenExpiresAtMs: expiresAtMs });
      const { dataCenterId, labels, name } = host;
      const diff = fieldChanges({}, { name, dataCenterId, labels });
      await audit.append({ caller, action: 'host.invited', resourceId: host.id, diff });
      await snapshots.hostsChanged([host.id]);
    });
    return { hostId: host.id, token, expiresAtMs };
  }

  /** Lets a node's agent join with the token that its cluster has vouched for. No key does it, so the trail has no word of it. */
  inviteNode(node: ClusterNode, { dataCenterId, ...token }: NodeInvitationOptions): Promise<NodeInvitation> {
    const { clock, records, snapshots, transactions } = this.#options;
    const facts = { id: hostOfNode(node), name: node.name, dataCenterId, labels: {} };
    const host = newHost({ ...facts, createdAtMs: clock.nowMs() });
    return transactions.run(async () => {
      const invitation = await records.inviteNode({ host, ...token });
      if (invitation === 'invited') await snapshots.hostsChanged([host.id]);
      return invitation;
    });
  }

  async list(): Promise<readonly HostBody[]> {
    const suspects = await this.#suspects();
    return (await this.#options.records.list()).map((host) => this.#bodyOf(host, suspects));
  }

  /** @throws PlatformError `host-not-found` */
  async get(id: HostId): Promise<HostDetailBody> {
    const { records } = this.#options;
    const host = found(await records.find(id));
    const workers = await records.workersOf(id);
    return { ...this.#bodyOf(host, await this.#suspects()), workers: workers.map(toHostWorkerBody) };
  }

  /** @throws PlatformError `host-not-found` */
  async act(caller: Caller, id: HostId, action: HostAction): Promise<HostBody> {
    const { audit, snapshots, transactions } = this.#options;
    const auditAction = action === 'readmit' ? 'host.readmitted' : AUDIT_OF_ACTION[action];
    const host = await transactions.run(async () => {
      const changed = found(await this.#change(id, action));
      await audit.append({ caller, action: auditAction, resourceId: id, diff: [] });
      await snapshots.hostsChanged([id]);
      return changed;
    });
    snapshots.announce('all');
    return this.#bodyOf(host, await this.#suspects());
  }

  /** A host that is there needs not be let in again, and stays as it is. */
  async #change(id: HostId, action: HostAction): Promise<HostRecord | null> {
    const { clock, records } = this.#options;
    if (action !== 'readmit') return records.setIntent(id, INTENT_OF_ACTION[action]);
    return (await records.readmitNode(id, clock.nowMs())) ?? records.find(id);
  }

  /** From then on the host may do nothing; its workers are placed elsewhere. @throws PlatformError `host-not-found` */
  async delete(caller: Caller, id: HostId): Promise<void> {
    const { audit, clock, onRemoved, records, snapshots, transactions } = this.#options;
    await transactions.run(async () => {
      if (!(await records.delete(id, clock.nowMs()))) found(null);
      await audit.append({ caller, action: 'host.deleted', resourceId: id, diff: [] });
      await snapshots.hostsChanged([id]);
    });
    snapshots.announce('all');
    transactions.afterCommit(onRemoved);
  }

  async #suspects(): Promise<ReadonlyMap<HostId, string>> {
    return suspectHosts(await this.#options.records.failingWorkers());
  }

  #bodyOf(host: HostRecord, suspects: ReadonlyMap<HostId, string>): HostBody {
    const { catalog, clock } = this.#options;
    return toHostBody(host, { catalog, suspects, nowMs: clock.nowMs() });
  }
}

function found(host: HostRecord | null): HostRecord {
  if (host === null) throw new PlatformError('host-not-found', 'No such host.');
  return host;
}
