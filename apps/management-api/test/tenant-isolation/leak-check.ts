import { OWNED, type Tenant } from '../access-matrix/tenant.js';
import type { Answer } from '../management-bench.js';

/** Knows everything by which an account could be recognised. */
export class LeakCheck {
  readonly #marks: readonly string[];

  constructor(tenant: Tenant) {
    this.#marks = [
      tenant.mark,
      tenant.accountId,
      tenant.key.split('_')[1] ?? '',
      ...OWNED.map((resource) => tenant.id(resource)),
    ];
  }

  /** What an answer tells of the account, beside what the request said itself. */
  leaks({ body, headers }: Pick<Answer, 'body' | 'headers'>, sent = ''): readonly string[] {
    const told = JSON.stringify([body, [...headers]]);
    return this.#marks.filter((mark) => told.includes(mark) && !sent.includes(mark));
  }
}
