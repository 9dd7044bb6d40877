/** Start-up settings that cannot be used. The message names every bad variable. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Bad settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
    this.name = 'ConfigError';
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** One variable as a process reads it: what `docs/settings.md` says of it. */
export interface Setting {
  readonly name: string;
  /** For the operator, in Markdown. */
  readonly meaning: string;
  /** The values that it may have, with their unit, in Markdown. */
  readonly values: string;
  /** Null: none. The reader's problems say whether it may be left out. */
  readonly fallback: string | null;
}

interface IntegerBounds {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
  /** In the plural; left out for ports and for what the name counts. */
  readonly unit?: string;
}

interface UrlBounds {
  /** Allowed ones, with the colon: `['nats:', 'tls:']`. */
  readonly protocols: readonly string[];
  /** Without one there must be a value. */
  readonly fallback?: string;
}

/**
 * Typed reading of environment variables. Each method returns a usable value and notes what is wrong, so that one
 * start-up names every problem; `parseConfig` throws them together. Each takes what the variable means, so that none can be
 * read without a word on it in `docs/settings.md`.
 */
export class ConfigReader {
  readonly problems: string[] = [];
  readonly #environment: Environment;
  readonly #settings = new Map<string, Setting>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** The settings that have been read so far; a variable that was read twice is as the last reading has it. */
  get settings(): readonly Setting[] {
    return [...this.#settings.values()];
  }

  string(name: string, meaning: string, fallback?: string): string {
    this.#note({ name, meaning, values: 'text', fallback: fallback });
    return this.#textOf(name, fallback);
  }

  optional(name: string, meaning: string): string | null {
    this.#note({ name, meaning, values: 'text' });
    return this.#valueOf(name);
  }

  integer(name: string, meaning: string, bounds: IntegerBounds): number {
    const { min, max, fallback, unit } = bounds;
    this.#note({
      name,
      meaning,
      values: `${min} to ${max}${unit === undefined ? '' : ` ${unit}`}`,
      fallback: String(fallback),
    });
    const text = this.#valueOf(name);
    if (text === null) return fallback;
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.problems.push(`${name} must be a whole number from ${min} to ${max}, not "${text}"`);
    return fallback;
  }

  oneOf<const Choice extends string>(
    name: string,
    meaning: string,
    { choices, fallback }: { readonly choices: readonly Choice[]; readonly fallback: NoInfer<Choice> },
  ): Choice {
    this.#note({ name, meaning, values: choices.map((each) => `\`${each}\``).join(', '), fallback: fallback });
    const text = this.#valueOf(name);
    if (text === null) return fallback;
    const choice = choices.find((each) => each === text);
    if (choice === undefined) this.problems.push(`${name} must be one of ${choices.join(', ')}, not "${text}"`);
    return choice ?? fallback;
  }

  url(name: string, meaning: string, { protocols, fallback }: UrlBounds): string {
    this.#note({ name, meaning, values: `URL: ${beginningsOf(protocols)}`, fallback: fallback });
    return this.#urlOf(name, protocols, fallback);
  }

  /** A URL that may be left out: null then. */
  optionalUrl(name: string, meaning: string, protocols: readonly string[]): string | null {
    this.#note({ name, meaning, values: `URL: ${beginningsOf(protocols)}` });
    return this.#valueOf(name) === null ? null : this.#urlOf(name, protocols);
  }

  /** One URL, or several with commas between. */
  urls(name: string, meaning: string, { protocols, fallback }: UrlBounds): string {
    this.#note({ name, meaning, values: `URLs with commas between: ${beginningsOf(protocols)}`, fallback: fallback });
    const text = this.#textOf(name, fallback);
    if (text !== '' && !text.split(',').every((each) => isUrl(each, protocols))) {
      this.problems.push(`${name} must be URLs that start with ${beginningsOf(protocols)}, with commas between`);
    }
    return text;
  }

  #note({ fallback, ...said }: Omit<Setting, 'fallback'> & { readonly fallback?: string | null | undefined }): void {
    this.#settings.set(said.name, { ...said, fallback: fallback ?? null });
  }

  #valueOf(name: string): string | null {
    const value = this.#environment[name];
    return value === undefined || value === '' ? null : value;
  }

  #textOf(name: string, fallback?: string): string {
    const value = this.#valueOf(name) ?? fallback;
    if (value === undefined) this.problems.push(`${name} is missing`);
    return value ?? '';
  }

  #urlOf(name: string, protocols: readonly string[], fallback?: string): string {
    const text = this.#textOf(name, fallback);
    if (text !== '' && !isUrl(text, protocols)) {
      this.problems.push(`${name} must be a URL that starts with ${beginningsOf(protocols)}`);
    }
    return text;
  }
}

const isUrl = (text: string, protocols: readonly string[]): boolean =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol);

const beginningsOf = (protocols: readonly string[]): string => protocols.map((each) => `${each}//`).join(' or ');

/** @throws ConfigError naming every variable that is missing or wrong. */
export function parseConfig<Config extends object>(
  environment: Environment,
  read: (reader: ConfigReader) => Config,
): Readonly<Config> {
  const reader = new ConfigReader(environment);
  const config = read(reader);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return Object.freeze(config);
}
