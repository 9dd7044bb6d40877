import { readMembers, type Members, type Reading } from '@berth/domain/shape';
import type { DroppedEntries, DroppedEntry } from './host-messages.js';

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

  /** The entry with the members that are named, or null. */
  read<Entry extends object>(members: Members<Entry>, value: unknown, member: string): Entry | null {
    const entry: Reading<Entry> = readMembers(members, value);
    if (entry.kind === 'value') return entry.value;
    this.drop(member, entry.reason);
    return null;
  }

  /** The readable items of a list, at most `max` of them. */
  readList<Item>(
    value: unknown,
    { member, max }: { readonly member: string; readonly max: number },
    read: (item: unknown, member: string) => Item | null,
  ): Item[] {
    if (!Array.isArray(value)) {
      this.drop(member, 'no list');
      return [];
    }
    const items: Item[] = [];
    for (const [index, each] of value.slice(0, max).entries()) {
      const item = read(each, `${member}[${index}]`);
      if (item !== null) items.push(item);
    }
    if (value.length > max) this.drop(`${member}[${max}]`, `more than ${max}`, value.length - max);
    return items;
  }
}
