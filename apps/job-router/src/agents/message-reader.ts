import { PlatformError, toRawJson, type RawJson } from '@berth/domain';
import { isToken } from '../platform/index.js';

/** What an agent sends is checked here and trusted inside. Every method throws PlatformError `invalid-fields`. */
export class MessageReader {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(value: unknown, path = '$') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(path, 'must be an object');
    this.#members = value as Readonly<Record<string, unknown>>;
    this.#path = path;
  }

  /** A string that may stand in a subject. */
  id<Id extends string>(name: string): Id {
    const value = this.#members[name];
    if (typeof value !== 'string' || !isToken(value)) throw invalid(this.#at(name), 'must be an id');
    return value as Id;
  }

  text(name: string, maxBytes: number): string {
    const value = this.#members[name];
    if (typeof value !== 'string') throw invalid(this.#at(name), 'must be a string');
    if (Buffer.byteLength(value) > maxBytes) throw invalid(this.#at(name), `must be at most ${maxBytes} bytes`);
    return value;
  }

  /** Strings of at most `maxCharacters` each; none where the member is absent. */
  texts(name: string, max: number, maxCharacters: number): readonly string[] {
    const value = this.#members[name] ?? [];
    const isFit = (item: unknown): item is string => typeof item === 'string' && item.length <= maxCharacters;
    if (Array.isArray(value) && value.length <= max && value.every(isFit)) return value;
    throw invalid(this.#at(name), `must be a list of at most ${max} strings of at most ${maxCharacters} characters`);
  }

  json(name: string, maxBytes: number): RawJson {
    const text = this.text(name, maxBytes);
    try {
      return toRawJson(text);
    } catch (cause) {
      throw new PlatformError('invalid-fields', `${this.#at(name)}: must be JSON text`, { cause });
    }
  }

  integer(name: string, min: number, max: number): number {
    const value = this.#members[name];
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    throw invalid(this.#at(name), `must be an integer from ${min} to ${max}`);
  }

  boolean(name: string): boolean {
    const value = this.#members[name];
    if (typeof value !== 'boolean') throw invalid(this.#at(name), 'must be a boolean');
    return value;
  }

  oneOf<const Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const choice = choices.find((each) => each === this.#members[name]);
    if (choice === undefined) throw invalid(this.#at(name), `must be one of ${choices.join(', ')}`);
    return choice;
  }

  isNull(name: string): boolean {
    return this.#members[name] === null || this.#members[name] === undefined;
  }

  object(name: string): MessageReader {
    return new MessageReader(this.#members[name], this.#at(name));
  }

  list(name: string, max: number): readonly MessageReader[] {
    const value = this.#members[name];
    if (!Array.isArray(value) || value.length > max) throw invalid(this.#at(name), `must be a list of at most ${max}`);
    return value.map((item, index) => new MessageReader(item, `${this.#at(name)}[${index}]`));
  }

  #at(name: string): string {
    return `${this.#path}.${name}`;
  }
}

const invalid = (path: string, reason: string): PlatformError => {
  const failure = `${path}: ${reason}`;
  return new PlatformError('invalid-fields', failure, { errors: [failure] });
};
