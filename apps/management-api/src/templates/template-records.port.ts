import type { AccountId, Template, TemplateSource } from '@berth/domain';

/** Templates as they are stored. Every method is about what one account may know or own. */
export interface TemplateRecords {
  /** @throws PlatformError `invalid-api-key` when the account is gone, `registry-not-found` */
  insert(template: Template): Promise<void>;
  /** The account's own, or a public one of anybody. */
  findVisible(accountId: AccountId, id: string): Promise<Template | null>;
  /** The account's own, which nobody else changes until the transaction is over. */
  lockOwn(accountId: AccountId, id: string): Promise<Template | null>;
  /** The account's own, oldest first. */
  list(accountId: AccountId): Promise<readonly Template[]>;
  /** Public ones of every account, oldest first. */
  listPublic(query: PublicTemplatesQuery): Promise<readonly Template[]>;
  /** @throws PlatformError `registry-not-found` */
  update(template: Omit<Template, 'createdAtMs'>): Promise<void>;
  /** Returns whether it was there. */
  delete(accountId: AccountId, id: string): Promise<boolean>;
}

export interface PublicTemplatesQuery {
  /** Null: whoever vouches for it. */
  readonly source: TemplateSource | null;
  readonly limit: number;
}
