import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import type { DroppedEntries, DroppedEntry } from '@berth/contracts';
import { PlatformError } from '@berth/domain';

const EXAMPLES_MAX = 8;

/** Reads a message entry by entry: one that cannot be read is left out and remembered, and the others are taken. */
export class EntryReader {
  readonly #examples: DroppedEntry[] = [];
  #count = 0;

  /** Null where nothing was left out. */
  get dropped(): DroppedEntries | null {
    return this.#count === 0 ? null : { count: this.#count, examples: this.#examples };
  }

  /** @param more how many were left out for the same reason */
  drop(member: string, reason: string, more = 1): void {
    this.#count += more;
    if (this.#examples.length < EXAMPLES_MAX) this.#examples.push({ member, reason });
  }

  /** The entry as its class describes it, or null. */
  read<Entry extends object>(type: ClassConstructor<Entry>, value: unknown, member: string): Entry | null {
    const entry = readEntry(type, value);
    if (entry.kind === 'entry') return entry.entry;
    this.drop(member, entry.reason);
    return null;
  }

  /** The readable entries of a list, at most `max` of them. */
  readList<Entry extends object>(
    type: ClassConstructor<Entry>,
    value: unknown,
    { member, max }: { readonly member: string; readonly max: number },
  ): Entry[] {
    if (!Array.isArray(value)) {
      this.drop(member, 'no list');
      return [];
    }
    const entries = value.slice(0, max).flatMap((each: unknown, index) => {
      const entry = this.read(type, each, `${member}[${index}]`);
      return entry === null ? [] : [entry];
    });
    if (value.length > max) this.drop(`${member}[${max}]`, `more than ${max}`, value.length - max);
    return entries;
  }
}

/**
 * A message without which nothing else of it counts.
 *
 * @throws PlatformError `invalid-fields`
 */
export function readFrame<Frame extends object>(type: ClassConstructor<Frame>, body: unknown): Frame {
  const frame = readEntry(type, body);
  if (frame.kind === 'entry') return frame.entry;
  throw new PlatformError('invalid-fields', `The message of this host cannot be read: ${frame.reason}.`);
}

type Reading<Entry> =
  { readonly kind: 'entry'; readonly entry: Entry } | { readonly kind: 'unreadable'; readonly reason: string };

function readEntry<Entry extends object>(type: ClassConstructor<Entry>, value: unknown): Reading<Entry> {
  const entry = instanceOf(type, value);
  if (entry === null) return { kind: 'unreadable', reason: 'no object' };
  const failures = validateSync(entry, { whitelist: true });
  if (failures.length === 0) return { kind: 'entry', entry };
  return { kind: 'unreadable', reason: failures.map(({ property }) => property).join(', ') };
}

function instanceOf<Entry extends object>(type: ClassConstructor<Entry>, value: unknown): Entry | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  try {
    const entry: unknown = plainToInstance(type, membersOf(type, value));
    return entry instanceof type ? entry : null;
  } catch {
    // The transformer reads names such as `constructor` of what came.
    return null;
  }
}

const membersByType = new Map<object, readonly string[]>();

/** Only what the class names: the transformer would walk all the rest, however deep and wide it is. */
function membersOf(type: ClassConstructor<object>, value: object): object {
  let names = membersByType.get(type);
  if (names === undefined) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    names = [...new Set(rules.map(({ propertyName }) => propertyName))];
    membersByType.set(type, names);
  }
  const given = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(given, name) ? [[name, given[name]]] : [])));
}
