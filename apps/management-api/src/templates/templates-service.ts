import type { CreateTemplateDto, UpdateTemplateDto } from '@berth/contracts/http';
import { PlatformError, fieldChanges, templateAsSeenBy, type Template, type TemplateSource } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { AuditStore } from '../audit/index.js';
import type { Transactions } from '../persistence/index.js';
import { changedTemplateSpec, newTemplateSpec, toTemplateFields } from './template.mapper.js';
import type { PublicTemplatesQuery, TemplatesStore } from './templates.store.js';

export interface TemplatesServiceOptions {
  readonly records: TemplatesStore;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
  readonly clock: Clock;
  readonly random: Random;
}

const ID_LENGTH = 14;

/** Templates of the caller's account, and the public ones of all. */
export class TemplatesService {
  readonly #options: TemplatesServiceOptions;

  constructor(options: TemplatesServiceOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `scope-missing`, `registry-not-found` */
  async create(caller: Caller, dto: CreateTemplateDto): Promise<Template> {
    const { audit, clock, random, records, transactions } = this.#options;
    const spec = newTemplateSpec(dto);
    requireVouching(caller, spec.source, 'community');
    const { accountId } = caller;
    const template: Template = { id: random.id(ID_LENGTH), accountId, spec, createdAtMs: clock.nowMs() };
    await transactions.run(async () => {
      await records.insert(template);
      const diff = fieldChanges({}, toTemplateFields(spec));
      await audit.append({ caller, action: 'template.created', resourceId: template.id, diff });
    });
    return template;
  }

  list(caller: Caller): Promise<readonly Template[]> {
    return this.#options.records.list(caller.accountId);
  }

  /** Public templates of all accounts, as the caller may see them. */
  async listPublic(caller: Caller, query: PublicTemplatesQuery): Promise<readonly Template[]> {
    const templates = await this.#options.records.listPublic(query);
    return templates.flatMap((template) => templateAsSeenBy(caller.accountId, template) ?? []);
  }

  /** An own one, or a public one as the caller may see it. @throws PlatformError `template-not-found` */
  async get(caller: Caller, id: string): Promise<Template> {
    const template = await this.#options.records.findVisible(caller.accountId, id);
    return found(template === null ? null : templateAsSeenBy(caller.accountId, template));
  }

  /** A template that an endpoint may be made from. @throws PlatformError `template-not-found`, `template-not-serverless` */
  async resolvable(caller: Caller, id: string): Promise<Template> {
    const template = await this.get(caller, id);
    if (template.spec.isServerless) return template;
    throw new PlatformError('template-not-serverless', `Template ${id} is not a serverless template.`);
  }

  /** Nothing made from it changes. @throws PlatformError `template-not-found`, `scope-missing`, `registry-not-found` */
  update(caller: Caller, id: string, dto: UpdateTemplateDto): Promise<Template> {
    const { audit, records, transactions } = this.#options;
    return transactions.run(async () => {
      const template = found(await records.lockOwn(caller.accountId, id));
      const spec = changedTemplateSpec(template.spec, dto);
      requireVouching(caller, spec.source, template.spec.source);
      const diff = fieldChanges(toTemplateFields(template.spec), toTemplateFields(spec));
      if (diff.length === 0) return template;
      const changed = { ...template, spec };
      await records.update(changed);
      await audit.append({ caller, action: 'template.updated', resourceId: id, diff });
      return changed;
    });
  }

  /** Nothing made from it changes. @throws PlatformError `template-not-found` */
  delete(caller: Caller, id: string): Promise<void> {
    const { audit, records, transactions } = this.#options;
    return transactions.run(async () => {
      if (!(await records.delete(caller.accountId, id))) found(null);
      await audit.append({ caller, action: 'template.deleted', resourceId: id, diff: [] });
    });
  }
}

/** Only the operator says who vouches for a template; every account may leave it said, or take it back. */
function requireVouching({ scopes }: Caller, source: TemplateSource, present: TemplateSource): void {
  if (source === present || source === 'community' || scopes.includes('admin')) return;
  throw new PlatformError('scope-missing', `access denied: a template is marked ${source} with the scope 'admin' only`);
}

function found(template: Template | null): Template {
  if (template === null) throw new PlatformError('template-not-found', 'No such template.');
  return template;
}
