/** Where a value's text lies: from `start` up to, not including, `end`. */
interface Span {
  readonly start: number;
  readonly end: number;
}

export type JsonScan =
  | {
      readonly kind: 'object' | 'other';
      /** Of an object, those of the wanted members that are there; where a name repeats, the last one counts. */
      readonly members: ReadonlyMap<string, Span>;
      /** How many `NaN` and infinities, which JSON does not know, stand where a number may. */
      readonly nonNumbers: number;
    }
  | { readonly kind: 'too-deep' | 'not-json' };

/** The depths that encoders and readers in use can take are far below; a level costs the scan one byte. */
export const JSON_DEPTH_MAX = 1_000_000;
const FIRST_DEPTH = 64;
/** A name may be written with an escape for each of its characters. */
const ESCAPE_LENGTH = 6;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const UPPER_I = 0x49;
const FIRST_PRINTABLE = 0x20;

const bytesOf = (ascii: string): Uint8Array => Uint8Array.from(ascii, (character) => character.charCodeAt(0));
const tableOf = (characters: string): Uint8Array => {
  const table = new Uint8Array(256);
  for (const byte of bytesOf(characters)) table[byte] = 1;
  return table;
};
const IS_SPACE = tableOf(' \t\n\r');
const IS_DIGIT = tableOf('0123456789');
const IS_HEX = tableOf('0123456789abcdefABCDEF');
const IS_ESCAPED = tableOf('"\\/bfnrt');
const IS_EXPONENT = tableOf('eE');
const IS_SIGN = tableOf('+-');

/** Words by their first byte. */
const WORDS: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null', 'NaN', 'Infinity', '-Infinity'].map((word) => [word.charCodeAt(0), bytesOf(word)]),
);
const IS_NON_NUMBER = tableOf('NI-');

type Step = 'value' | 'after' | 'done' | 'not-json' | 'too-deep';

/**
 * Reads JSON text once from front to back and makes nothing of it: no object, no string, no stack frame per level. It
 * takes what `JSON.parse` takes, and `NaN`, `Infinity` and `-Infinity` besides, which Python's encoder writes.
 *
 * @param bytes well-formed UTF-8
 * @param wanted names, in ASCII, of the members to find in the outermost object
 */
export function scanJson(bytes: Uint8Array, wanted: ReadonlySet<string>): JsonScan {
  return new JsonScanner(bytes, wanted).run();
}

class JsonScanner {
  readonly #bytes: Uint8Array;
  readonly #wanted: ReadonlySet<string>;
  readonly #nameLengths: ReadonlySet<number>;
  readonly #nameMaxBytes: number;
  readonly #members = new Map<string, Span>();
  /** For each open level: 1 when it is an object. */
  #isObject: Uint8Array<ArrayBufferLike> = new Uint8Array(FIRST_DEPTH);
  #depth = 0;
  #at = 0;
  #nonNumbers = 0;
  /** Whether the string that was read last is written with escapes. */
  #hasEscape = false;
  /** The wanted member of the outermost object whose value is being read. */
  #name: string | null = null;
  #valueStart = 0;

  constructor(bytes: Uint8Array, wanted: ReadonlySet<string>) {
    this.#bytes = bytes;
    this.#wanted = wanted;
    const lengths = [...wanted].map((name) => name.length);
    this.#nameLengths = new Set(lengths);
    this.#nameMaxBytes = ESCAPE_LENGTH * Math.max(0, ...lengths) + 2;
  }

  run(): JsonScan {
    let step: Step = 'value';
    while (step === 'value' || step === 'after') step = step === 'value' ? this.#value() : this.#after();
    if (step !== 'done') return { kind: step };
    this.#skipSpace();
    if (this.#at !== this.#bytes.length) return { kind: 'not-json' };
    const kind = this.#isObject[0] === 1 ? 'object' : 'other';
    return { kind, members: this.#members, nonNumbers: this.#nonNumbers };
  }

  #value(): Step {
    this.#skipSpace();
    if (this.#depth === 1) this.#valueStart = this.#at;
    const byte = this.#bytes[this.#at];
    if (byte === OPEN_BRACE) return this.#open(1);
    if (byte === OPEN_BRACKET) return this.#open(0);
    const isValue = byte === QUOTE ? this.#string() : this.#word() || this.#number();
    return isValue ? 'after' : 'not-json';
  }

  #open(isObject: 0 | 1): Step {
    if (this.#depth === JSON_DEPTH_MAX) return 'too-deep';
    if (this.#depth === this.#isObject.length) this.#grow();
    this.#isObject[this.#depth] = isObject;
    this.#depth += 1;
    this.#at += 1;
    this.#skipSpace();
    if (this.#bytes[this.#at] === (isObject === 1 ? CLOSE_BRACE : CLOSE_BRACKET)) return this.#close();
    return isObject === 1 ? this.#memberName() : 'value';
  }

  #grow(): void {
    const larger = new Uint8Array(this.#isObject.length * 2);
    larger.set(this.#isObject);
    this.#isObject = larger;
  }

  #close(): Step {
    this.#at += 1;
    this.#depth -= 1;
    return 'after';
  }

  /** Reads a token that may follow a value. */
  #after(): Step {
    if (this.#depth === 0) return 'done';
    if (this.#depth === 1 && this.#name !== null) {
      this.#members.set(this.#name, { start: this.#valueStart, end: this.#at });
    }
    this.#skipSpace();
    const byte = this.#bytes[this.#at];
    const isObject = this.#isObject[this.#depth - 1] === 1;
    if (byte === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return this.#close();
    if (byte !== COMMA) return 'not-json';
    this.#at += 1;
    return isObject ? this.#memberName() : 'value';
  }

  #memberName(): Step {
    this.#skipSpace();
    const start = this.#at;
    if (this.#bytes[start] !== QUOTE || !this.#string()) return 'not-json';
    if (this.#depth === 1) this.#name = this.#wantedName(start, this.#at);
    this.#skipSpace();
    if (this.#bytes[this.#at] !== COLON) return 'not-json';
    this.#at += 1;
    return 'value';
  }

  #wantedName(start: number, end: number): string | null {
    // Millions of members may stand here: most are told by their length alone.
    const isPossible = this.#hasEscape ? end - start <= this.#nameMaxBytes : this.#nameLengths.has(end - start - 2);
    if (!isPossible) return null;
    // Byte by byte: the names are ASCII, and what is not stays different from them.
    const text = String.fromCharCode(...this.#bytes.subarray(start, end));
    const name = this.#hasEscape ? (JSON.parse(text) as string) : text.slice(1, -1);
    return this.#wanted.has(name) ? name : null;
  }

  #skipSpace(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < bytes.length && IS_SPACE[bytes[at] ?? 0] === 1) at += 1;
    this.#at = at;
  }

  #string(): boolean {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    this.#hasEscape = false;
    while (at < bytes.length) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return true;
      }
      if (byte < FIRST_PRINTABLE) return false;
      if (byte !== BACKSLASH) at += 1;
      else at = this.#endOfEscape(at);
    }
    return false;
  }

  /** Past the end of the text where it is no escape. */
  #endOfEscape(at: number): number {
    const bytes = this.#bytes;
    const kind = bytes[at + 1] ?? 0;
    this.#hasEscape = true;
    if (IS_ESCAPED[kind] === 1) return at + 2;
    const end = at + ESCAPE_LENGTH;
    let isEscape = kind === LOWER_U;
    for (let digit = at + 2; digit < end; digit += 1) isEscape &&= IS_HEX[bytes[digit] ?? 0] === 1;
    return isEscape ? end : bytes.length;
  }

  #word(): boolean {
    const bytes = this.#bytes;
    const first = bytes[this.#at] ?? 0;
    const word = WORDS.get(first);
    if (word === undefined || (first === MINUS && bytes[this.#at + 1] !== UPPER_I)) return false;
    for (let order = 0; order < word.length; order += 1) if (bytes[this.#at + order] !== word[order]) return false;
    this.#at += word.length;
    this.#nonNumbers += IS_NON_NUMBER[first] ?? 0;
    return true;
  }

  #number(): boolean {
    const bytes = this.#bytes;
    const start = bytes[this.#at] === MINUS ? this.#at + 1 : this.#at;
    const whole = bytes[start] === ZERO ? start + 1 : this.#endOfDigits(start);
    if (whole === start) return false;
    const fraction = bytes[whole] === POINT ? this.#endOfDigits(whole + 1) : whole;
    if (fraction === whole + 1) return false;
    this.#at = fraction;
    return IS_EXPONENT[bytes[fraction] ?? 0] === 0 || this.#exponent();
  }

  #exponent(): boolean {
    const start = this.#at + 1 + (IS_SIGN[this.#bytes[this.#at + 1] ?? 0] ?? 0);
    this.#at = this.#endOfDigits(start);
    return this.#at > start;
  }

  #endOfDigits(start: number): number {
    const bytes = this.#bytes;
    let at = start;
    while (at < bytes.length && IS_DIGIT[bytes[at] ?? 0] === 1) at += 1;
    return at;
  }
}
