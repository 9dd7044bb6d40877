/** Start-up settings that cannot be used. The message names every bad variable. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`Bad settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Typed reading of environment variables. Each method returns a usable value and notes what is wrong, so that one
 * start-up names every problem; `parseConfig` throws them together.
 */
export class ConfigReader {
  readonly problems: string[] = [];
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  string(name: string, fallback?: string): string {
    const value = this.#environment[name];
    if (value !== undefined && value !== '') return value;
    if (fallback === undefined) this.problems.push(`${name} is missing`);
    return fallback ?? '';
  }

  optional(name: string): string | null {
    const value = this.#environment[name];
    return value === undefined || value === '' ? null : value;
  }

  integer(name: string, bounds: { readonly min: number; readonly max: number; readonly fallback: number }): number {
    const text = this.optional(name);
    if (text === null) return bounds.fallback;
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= bounds.min && value <= bounds.max) return value;
    this.problems.push(`${name} must be a whole number from ${bounds.min} to ${bounds.max}, not "${text}"`);
    return bounds.fallback;
  }

  oneOf<const Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    const text = this.optional(name);
    if (text === null) return fallback;
    const choice = choices.find((each) => each === text);
    if (choice === undefined) this.problems.push(`${name} must be one of ${choices.join(', ')}, not "${text}"`);
    return choice ?? fallback;
  }

  /** @param protocols allowed ones, with the colon: `['nats:', 'tls:']` */
  url(name: string, protocols: readonly string[], fallback?: string): string {
    const text = this.string(name, fallback);
    if (text !== '' && !isUrl(text, protocols)) {
      this.problems.push(`${name} must be a URL that starts with ${beginningsOf(protocols)}`);
    }
    return text;
  }

  /** One URL, or several with commas between. */
  urls(name: string, protocols: readonly string[], fallback?: string): string {
    const text = this.string(name, fallback);
    if (text !== '' && !text.split(',').every((each) => isUrl(each, protocols))) {
      this.problems.push(`${name} must be URLs that start with ${beginningsOf(protocols)}, with commas between`);
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
