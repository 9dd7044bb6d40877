import type { CreateRegistryDto } from '@berth/contracts/http';
import { PlatformError, fieldChanges } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { AuditStore } from '../audit/index.js';
import { describeUsers, USERS_MAX } from '../references/index.js';
import type { Transactions } from '../persistence/index.js';
import type { RegistryCredentialsService } from './registry-credentials-service.js';
import type { Registry, RegistriesStore } from './registries.store.js';

export interface RegistriesServiceOptions {
  readonly records: RegistriesStore;
  readonly credentials: RegistryCredentialsService;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
  readonly clock: Clock;
  readonly random: Random;
}

const ID_LENGTH = 14;

/** Credentials of container registries of the caller's account. No answer shows them. */
export class RegistriesService {
  readonly #options: RegistriesServiceOptions;

  constructor(options: RegistriesServiceOptions) {
    this.#options = options;
  }

  async create(caller: Caller, { name, password, username }: CreateRegistryDto): Promise<Registry> {
    const { audit, clock, credentials, random, records, transactions } = this.#options;
    const { accountId } = caller;
    const registry: Registry = { id: random.id(ID_LENGTH), accountId, name, createdAtMs: clock.nowMs() };
    await transactions.run(async () => {
      await records.insert(registry, credentials.seal(registry, { username, password }));
      const diff = fieldChanges({}, { name });
      await audit.append({ caller, action: 'registry.created', resourceId: registry.id, diff });
    });
    return registry;
  }

  list(caller: Caller): Promise<readonly Registry[]> {
    return this.#options.records.list(caller.accountId);
  }

  /** @throws PlatformError `registry-not-found` */
  async get(caller: Caller, id: string): Promise<Registry> {
    const registry = await this.#options.records.find(caller.accountId, id);
    if (registry === null) throw notFound();
    return registry;
  }

  /** Templates lose it; endpoints and pods keep it from being deleted. @throws PlatformError `registry-not-found`, `registry-in-use` */
  delete(caller: Caller, id: string): Promise<void> {
    const { audit, records, transactions } = this.#options;
    const { accountId } = caller;
    return transactions.run(async () => {
      if (!(await records.lock(accountId, id))) throw notFound();
      const users = await records.usersOf(accountId, id, USERS_MAX + 1);
      if (users.length > 0) {
        throw new PlatformError('registry-in-use', `Registry ${id} is used by ${describeUsers(users)}.`);
      }
      await records.delete(accountId, id);
      await audit.append({ caller, action: 'registry.deleted', resourceId: id, diff: [] });
    });
  }
}

const notFound = (): PlatformError => new PlatformError('registry-not-found', 'No such container registry.');
