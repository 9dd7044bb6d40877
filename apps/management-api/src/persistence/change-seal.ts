import { MASK, type FieldChange } from '@berth/domain';
import { SecretError, type SecretBox } from '@berth/secrets';

/** Whose change it is. */
export interface ChangeOwner {
  readonly accountId: string;
  readonly resourceId: string;
}

const ENV_PREFIX = 'env.';
const SEALED = /^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/;

/**
 * Seals what a change tells of environment variables, for they rest sealed themselves (ADR 0019). Whose name says that it
 * is a secret is masked already, and stays so.
 */
export class ChangeSeal {
  readonly #secrets: SecretBox;

  constructor(secrets: SecretBox) {
    this.#secrets = secrets;
  }

  seal(diff: readonly FieldChange[], owner: ChangeOwner): FieldChange[] {
    return envValuesOf(diff, (value) => (value === MASK ? value : this.#secrets.seal(value, contextOf(owner))));
  }

  /** A value that cannot be opened, because its key is gone, is shown masked: the rest of the change stays readable. */
  open(diff: readonly FieldChange[], owner: ChangeOwner): FieldChange[] {
    return envValuesOf(diff, (value) => (SEALED.test(value) ? this.#openOne(value, owner) : value));
  }

  /** Each sealed value as by `SecretBox.reseal`. @throws SecretError when one of them cannot be opened */
  reseal(diff: readonly FieldChange[], owner: ChangeOwner): FieldChange[] {
    return envValuesOf(diff, (value) => (SEALED.test(value) ? this.#secrets.reseal(value, contextOf(owner)) : value));
  }

  #openOne(value: string, owner: ChangeOwner): string {
    try {
      return this.#secrets.open(value, contextOf(owner));
    } catch (error) {
      if (error instanceof SecretError) return MASK;
      throw error;
    }
  }
}

const contextOf = ({ accountId, resourceId }: ChangeOwner): string => `change:${accountId}:${resourceId}`;

function envValuesOf(diff: readonly FieldChange[], change: (value: string) => string): FieldChange[] {
  const changed = (value: unknown): unknown => (typeof value === 'string' ? change(value) : value);
  return diff.map((item) =>
    item.field.startsWith(ENV_PREFIX) ? { ...item, old: changed(item.old), new: changed(item.new) } : item,
  );
}
