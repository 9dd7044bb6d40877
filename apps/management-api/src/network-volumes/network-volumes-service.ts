import type { CreateNetworkVolumeDto, UpdateNetworkVolumeDto } from '@berth/contracts/http';
import { PlatformError, fieldChanges } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { AccountUseStore } from '../accounts/index.js';
import type { AuditStore } from '../audit/index.js';
import { describeUsers, USERS_MAX } from '../references/index.js';
import type { Transactions } from '../persistence/index.js';
import { toNetworkVolumeFields } from './network-volume.mapper.js';
import type { NetworkVolume, NetworkVolumesStore } from './network-volumes.store.js';

export interface NetworkVolumesServiceOptions {
  readonly records: NetworkVolumesStore;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
  readonly use: Pick<AccountUseStore, 'requireWithin'>;
  readonly clock: Clock;
  readonly random: Random;
}

const ID_LENGTH = 14;

/** Network volumes of the caller's account. */
export class NetworkVolumesService {
  readonly #options: NetworkVolumesServiceOptions;

  constructor(options: NetworkVolumesServiceOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `limit-reached` */
  async create(caller: Caller, dto: CreateNetworkVolumeDto): Promise<NetworkVolume> {
    const { audit, clock, random, records, transactions, use } = this.#options;
    const volume: NetworkVolume = {
      id: random.id(ID_LENGTH),
      accountId: caller.accountId,
      name: dto.name,
      sizeGb: dto.size,
      dataCenterId: dto.dataCenter,
      type: dto.type ?? 'STANDARD',
      createdAtMs: clock.nowMs(),
    };
    await transactions.run(async () => {
      await records.insert(volume);
      const diff = fieldChanges({}, toNetworkVolumeFields(volume));
      await audit.append({ caller, action: 'network-volume.created', resourceId: volume.id, diff });
      await use.requireWithin(caller.accountId, 'volumeGb');
    });
    return volume;
  }

  list(caller: Caller): Promise<readonly NetworkVolume[]> {
    return this.#options.records.list(caller.accountId);
  }

  /** @throws PlatformError `network-volume-not-found` */
  async get(caller: Caller, id: string): Promise<NetworkVolume> {
    return found(await this.#options.records.find(caller.accountId, id));
  }

  /** @throws PlatformError `invalid-fields` for nothing, `network-volume-not-found`, `rule-conflict` for a smaller size, `limit-reached` */
  async update(caller: Caller, id: string, dto: UpdateNetworkVolumeDto): Promise<NetworkVolume> {
    const { audit, records, transactions, use } = this.#options;
    requireChange(dto);
    return transactions.run(async () => {
      const volume = found(await records.lock(caller.accountId, id));
      const changed = { ...volume, name: dto.name ?? volume.name, sizeGb: dto.size ?? volume.sizeGb };
      refuseShrinking(volume, changed);
      const diff = fieldChanges(toNetworkVolumeFields(volume), toNetworkVolumeFields(changed));
      if (diff.length === 0) return volume;
      await records.update(changed);
      await audit.append({ caller, action: 'network-volume.updated', resourceId: id, diff });
      if (changed.sizeGb > volume.sizeGb) await use.requireWithin(caller.accountId, 'volumeGb');
      return changed;
    });
  }

  /** @throws PlatformError `network-volume-not-found`, `network-volume-in-use` */
  delete(caller: Caller, id: string): Promise<void> {
    const { audit, records, transactions } = this.#options;
    const { accountId } = caller;
    return transactions.run(async () => {
      found(await records.lock(accountId, id));
      const users = await records.usersOf(accountId, id, USERS_MAX + 1);
      if (users.length > 0) {
        throw new PlatformError('network-volume-in-use', `Network volume ${id} is used by ${describeUsers(users)}.`);
      }
      await records.delete(accountId, id);
      await audit.append({ caller, action: 'network-volume.deleted', resourceId: id, diff: [] });
    });
  }
}

/** `minProperties: 1` of the update (wire contract 5.1). */
function requireChange({ name, size }: UpdateNetworkVolumeDto): void {
  if (name !== undefined || size !== undefined) return;
  const reason = "$: send at least one of 'name' and 'size'";
  throw new PlatformError('invalid-fields', `One field failed validation: ${reason}`, { errors: [reason] });
}

function refuseShrinking(before: NetworkVolume, { sizeGb }: NetworkVolume): void {
  if (sizeGb >= before.sizeGb) return;
  const reason = `$.size: must not be below ${before.sizeGb}, which it is now: volumes only grow`;
  throw new PlatformError('rule-conflict', `The fields contradict each other: ${reason}.`, { errors: [reason] });
}

function found(volume: NetworkVolume | null): NetworkVolume {
  if (volume === null) throw new PlatformError('network-volume-not-found', 'No such network volume.');
  return volume;
}
