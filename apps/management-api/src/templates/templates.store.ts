import { type AccountId, PlatformError, type Template, type TemplateSource, type TemplateSpec } from '@berth/domain';
import {
  AccountEntity,
  type Database,
  type Env,
  type EnvOwner,
  type EnvSeal,
  requireAccount,
  TemplateEntity,
  violatesForeignKey,
} from '../persistence/index.js';

export interface PublicTemplatesQuery {
  /** Null: of every source. */
  readonly source: TemplateSource | null;
  readonly limit: number;
}

const OLDEST_FIRST = { createdAt: 'ASC', id: 'ASC' } as const;
const OF_REGISTRY = 'templates_registry';

/** Templates as they are stored. Every method is about what one account may know or own. */
export class TemplatesStore {
  readonly #database: Database;
  readonly #envs: EnvSeal;

  constructor(database: Database, envs: EnvSeal) {
    this.#database = database;
    this.#envs = envs;
  }

  /** @throws PlatformError `invalid-api-key` when the account is gone, `registry-not-found` */
  insert({ accountId, createdAtMs, id, spec }: Template): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await requireAccount(manager, accountId);
      const row = { id, accountId, createdAt: new Date(createdAtMs), ...this.#columnsOf({ accountId, id, spec }) };
      await withKnownRegistry(() => manager.insert(TemplateEntity, row));
    });
  }

  /** The account's own, or a public one of anybody. */
  async findVisible(accountId: AccountId, id: string): Promise<Template | null> {
    const row = await this.#database.read((manager) =>
      manager
        .createQueryBuilder(TemplateEntity, 't')
        .innerJoin(AccountEntity, 'a', 'a.id = t.accountId AND a.deletedAt IS NULL')
        .where('t.id = :id AND (t.accountId = :accountId OR t.isPublic)', { id, accountId })
        .getOne(),
    );
    return row === null ? null : this.#opened(row);
  }

  /** The account's own, which no other transaction changes until the transaction is over. */
  async lockOwn(accountId: AccountId, id: string): Promise<Template | null> {
    const row = await this.#database.transaction((manager) =>
      manager.findOne(TemplateEntity, { where: { id, accountId }, lock: { mode: 'pessimistic_write' } }),
    );
    return row === null ? null : this.#opened(row);
  }

  /** The account's own, oldest first. */
  async list(accountId: AccountId): Promise<readonly Template[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(TemplateEntity, { where: { accountId }, order: OLDEST_FIRST }),
    );
    return rows.map((row) => this.#opened(row));
  }

  /** Public ones of every account, oldest first. */
  async listPublic({ limit, source }: PublicTemplatesQuery): Promise<readonly Template[]> {
    const rows = await this.#database.read((manager) => {
      const query = manager
        .createQueryBuilder(TemplateEntity, 't')
        .innerJoin(AccountEntity, 'a', 'a.id = t.accountId AND a.deletedAt IS NULL')
        .where('t.isPublic')
        .orderBy('t.createdAt')
        .addOrderBy('t.id')
        .limit(limit);
      if (source !== null) query.andWhere('t.source = :source', { source });
      return query.getMany();
    });
    return rows.map((row) => this.#opened(row));
  }

  /** @throws PlatformError `registry-not-found` */
  update({ accountId, id, spec }: Omit<Template, 'createdAtMs'>): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await withKnownRegistry(() =>
        manager.update(TemplateEntity, { id, accountId }, this.#columnsOf({ accountId, id, spec })),
      );
    });
  }

  /** Returns whether it was there. */
  async delete(accountId: AccountId, id: string): Promise<boolean> {
    const { affected } = await this.#database.read((manager) => manager.delete(TemplateEntity, { id, accountId }));
    return affected === 1;
  }

  #columnsOf({
    accountId,
    id,
    spec,
  }: Omit<Template, 'createdAtMs'>): Omit<TemplateEntity, 'id' | 'accountId' | 'createdAt'> {
    return { ...columnsOf(spec), env: this.#envs.seal(spec.container.env, ownerOf(accountId, id)) };
  }

  #opened(row: TemplateEntity): Template {
    const accountId = row.accountId as AccountId;
    return toTemplate(row, accountId, this.#envs.open(row.env, ownerOf(accountId, row.id)));
  }
}

const ownerOf = (accountId: AccountId, id: string): EnvOwner => ({ kind: 'template', accountId, id });

/** The key that refuses the row is also what keeps a registry from being deleted meanwhile. */
async function withKnownRegistry(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!violatesForeignKey(error, OF_REGISTRY)) throw error;
    throw new PlatformError('registry-not-found', 'No such container registry.', { cause: error });
  }
}

const columnsOf = ({
  container,
  persistentMount,
  ...spec
}: TemplateSpec): Omit<TemplateEntity, 'id' | 'accountId' | 'createdAt' | 'env'> => ({
  name: spec.name,
  image: container.image,
  args: container.args,
  diskGb: container.diskGb,
  ports: [...container.ports],
  registryId: container.registryId,
  mountGb: persistentMount?.sizeGb ?? null,
  mountPath: persistentMount?.path ?? null,
  isServerless: spec.isServerless,
  isPublic: spec.isPublic,
  source: spec.source,
  category: spec.category,
  startsSsh: spec.startsSsh,
  startsJupyter: spec.startsJupyter,
  allowedCudaVersions: [...spec.allowedCudaVersions],
});

const toTemplate = (row: TemplateEntity, accountId: AccountId, env: Env): Template => ({
  id: row.id,
  accountId,
  spec: {
    name: row.name,
    container: {
      image: row.image,
      args: row.args,
      diskGb: row.diskGb,
      env,
      ports: row.ports,
      registryId: row.registryId,
    },
    persistentMount:
      row.mountGb === null || row.mountPath === null ? null : { sizeGb: row.mountGb, path: row.mountPath },
    isServerless: row.isServerless,
    isPublic: row.isPublic,
    source: row.source,
    category: row.category,
    startsSsh: row.startsSsh,
    startsJupyter: row.startsJupyter,
    allowedCudaVersions: row.allowedCudaVersions,
  },
  createdAtMs: row.createdAt.getTime(),
});
