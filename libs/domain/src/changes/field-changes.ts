import { isSecretName, MASK } from './secret-name.js';

/** One field that is not what it was. */
export interface FieldChange {
  /** The interface's own dotted path: `workers.max`, `env.NAME`. */
  readonly field: string;
  /** Null where the field was absent. */
  readonly old: unknown;
  /** Null where the field is absent now. */
  readonly new: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The differences between two bodies of one resource, field by field, in the order of the names. Objects are compared
 * member by member, lists and everything else as a whole; null and absent are the same. Values of secrets are masked.
 *
 * @param before `{}` for what has just been created
 * @param after `{}` for what has been deleted
 */
export const fieldChanges = (before: Fields, after: Fields): readonly FieldChange[] => changesAt('', before, after);

function changesAt(prefix: string, before: Fields, after: Fields): readonly FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [old, now] = [memberOf(before, name), memberOf(after, name)];
    const field = `${prefix}${name}`;
    if (isFields(old ?? now) && isFields(now ?? old)) return changesAt(`${field}.`, asFields(old), asFields(now));
    if (isSame(old, now)) return [];
    const isMasked = isSecretName(name);
    return [{ field, old: isMasked ? masked(old) : old, new: isMasked ? masked(now) : now }];
  });
}

const memberOf = (fields: Fields, name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : null) ?? null;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const asFields = (value: unknown): Fields => (isFields(value) ? value : {});

const isSame = (old: unknown, now: unknown): boolean => JSON.stringify(old) === JSON.stringify(now);

const masked = (value: unknown): unknown => (value === null ? null : MASK);
