import { PlatformError, type HostId, type HostIntent, type Worker } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { ControlSnapshots } from '../snapshots/control-snapshots.port.js';
import {
  DATA_CENTER_DEFAULT,
  TOKEN_LIFE_DEFAULT_SECONDS,
  type CreateJoinTokenDto,
  type HostAction,
} from './host.dto.js';
import type { HostRecord, HostRecords } from './host-records.port.js';

/** Makes the one-time token of a host, as the sessions of agents understand it. */
type MakeJoinToken = (hostId: HostId) => { readonly token: string; readonly hash: string };

export interface HostsServiceOptions {
  readonly records: HostRecords;
  readonly snapshots: ControlSnapshots;
  readonly clock: Clock;
  readonly random: Random;
  readonly makeJoinToken: MakeJoinToken;
}

const ID_LENGTH = 12;

const INTENT_OF_ACTION: Readonly<Record<HostAction, HostIntent>> = {
  cordon: 'cordoned',
  uncordon: 'ready',
  drain: 'draining',
};

/** Machines of the installation; for operators. */
export class HostsService {
  readonly #options: HostsServiceOptions;

  constructor(options: HostsServiceOptions) {
    this.#options = options;
  }

  /** A host that may join once with the token, which is in the answer this once. */
  async invite(
    dto: CreateJoinTokenDto,
  ): Promise<{ readonly hostId: HostId; readonly token: string; readonly expiresAtMs: number }> {
    const { clock, makeJoinToken, random, records, snapshots } = this.#options;
    const nowMs = clock.nowMs();
    const host: HostRecord = {
      id: random.id(ID_LENGTH) as HostId,
      name: dto.name,
      dataCenterId: dto.dataCenterId ?? DATA_CENTER_DEFAULT,
      labels: dto.labels ?? {},
      intent: 'ready',
      inventory: null,
      lastSeenAtMs: null,
      createdAtMs: nowMs,
    };
    const { hash, token } = makeJoinToken(host.id);
    const expiresAtMs = nowMs + (dto.expiresInSeconds ?? TOKEN_LIFE_DEFAULT_SECONDS) * 1000;
    await records.insert({ host, tokenHash: hash, tokenExpiresAtMs: expiresAtMs }, () => snapshots.putHost(host));
    return { hostId: host.id, token, expiresAtMs };
  }

  list(): Promise<readonly HostRecord[]> {
    return this.#options.records.list();
  }

  /** @throws PlatformError `host-not-found` */
  async get(id: HostId): Promise<{ readonly host: HostRecord; readonly workers: readonly Worker[] }> {
    const { records } = this.#options;
    const host = found(await records.find(id));
    return { host, workers: await records.workersOf(id) };
  }

  /** @throws PlatformError `host-not-found` */
  async act(id: HostId, action: HostAction): Promise<HostRecord> {
    const { records, snapshots } = this.#options;
    const intent = INTENT_OF_ACTION[action];
    const host = found(await records.setIntent(id, intent, () => snapshots.putHost({ id, intent })));
    snapshots.announce('all');
    return host;
  }

  /** From then on the host may do nothing; its workers are placed elsewhere. @throws PlatformError `host-not-found` */
  async delete(id: HostId): Promise<void> {
    const { records, snapshots } = this.#options;
    if (!(await records.delete(id, () => snapshots.removeHost(id)))) found(null);
    snapshots.announce('all');
  }
}

function found(host: HostRecord | null): HostRecord {
  if (host === null) throw new PlatformError('host-not-found', 'No such host.');
  return host;
}
