import { sliceItems, sliceMembers, type RawJson } from '@berth/domain';
import { encodeEvent } from '@berth/http';
import { OpenAiFailure, failureInOutput } from './openai-failure.js';

const DONE = 'data: [DONE]\n\n';
const EVENT_END = /(\r\n\r\n|\n\n|\r\r)$/;
/** The longest end of an event. */
const EVENT_END_CHARACTERS = 4;

/** The largest output: an agent makes pieces of nothing larger. */
const VALUE_MAX_BYTES = 64 * 1024 ** 2;
/** Several times what a value of that size needs. */
const PIECES_MAX = 1_024;
/** Room for two numbers and their names. */
const PART_MAX_CHARACTERS = 100;
/** Items of one list, and lines of one value: each costs far more than its characters when it becomes an event. */
const ITEMS_MAX = 256 * 1024;
const LINE_END = /[\r\n]/g;

const CHUNK_MEMBERS: ReadonlySet<string> = new Set(['output', 'part']);

/** Where a piece belongs (API decisions 2.12). */
interface Part {
  readonly index: number;
  readonly count: number;
}

/**
 * Turns what a worker streams into the text of an event stream. Strings are such text already and go out as they are,
 * cut wherever the worker cut them; anything else becomes one event for each item, with the end marked afterwards.
 */
export class AnswerFrames {
  /** Pieces of a value that was too large for one chunk. */
  #pieces: string[] = [];
  #keptBytes = 0;
  #hasFrames = false;
  #lastText = '';

  /** Something has gone out, so the answer cannot begin again. */
  get hasBegun(): boolean {
    return this.#lastText !== '';
  }

  /** A comment, or an event of our own, would break nothing here. */
  get isBetweenEvents(): boolean {
    return !this.hasBegun || EVENT_END.test(this.#lastText);
  }

  /** Memory of the pieces whose value is not whole yet. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /**
   * The text of one chunk; empty while a split value is not whole.
   *
   * @param body what the worker posted
   * @throws OpenAiFailure when the worker streams an error, or what cannot be passed on
   */
  chunk(body: RawJson): string {
    const members = body.trimStart().startsWith('{') ? sliceMembers(body, { wanted: CHUNK_MEMBERS }) : null;
    const output = members?.get('output');
    if (output === undefined) return this.output(body);
    const part = output.startsWith('"') ? partOf(members?.get('part')) : null;
    return part === null ? this.output(output) : this.#piece(output, part);
  }

  /** The text of a value. @throws OpenAiFailure when it is an error, or cannot be passed on */
  output(output: RawJson): string {
    const text = itemsOf(output.trim() as RawJson)
      .map((item) => this.#item(item))
      .join('');
    this.#lastText = (this.#lastText + text.slice(-EVENT_END_CHARACTERS)).slice(-EVENT_END_CHARACTERS);
    return text;
  }

  /** The text that is still due after the last chunk of a worker that has done its work. */
  end(): string {
    return this.#hasFrames ? DONE : '';
  }

  #piece(output: RawJson, { index, count }: Part): string {
    // Another attempt begins with the first piece again.
    if (index === 0) this.#letGo();
    if (index !== this.#pieces.length) throw unfit('came in pieces that do not fit together');
    this.#keptBytes += Buffer.byteLength(output);
    if (this.#keptBytes > VALUE_MAX_BYTES) throw unfit('has a value that is too large');
    this.#pieces.push(JSON.parse(output) as string);
    if (this.#pieces.length < count) return '';
    const whole = this.#pieces.join('') as RawJson;
    this.#letGo();
    return this.output(whole);
  }

  #letGo(): void {
    this.#pieces = [];
    this.#keptBytes = 0;
  }

  #item(item: RawJson): string {
    if (item.startsWith('"')) return JSON.parse(item) as string;
    if (item === 'null') return '';
    const failure = failureInOutput(item);
    if (failure !== null) throw failure;
    this.#hasFrames = true;
    return encodeEvent({ data: item });
  }
}

const unfit = (reason: string): OpenAiFailure =>
  new OpenAiFailure(500, `The worker's answer ${reason}.`, { type: 'worker_error', code: null });

/** Null for a member of that name that is the worker's own. */
function partOf(text: RawJson | undefined): Part | null {
  if (text === undefined || text.length > PART_MAX_CHARACTERS) return null;
  const part = JSON.parse(text) as Partial<Part> | null;
  const { index = -1, count = -1 } = part ?? {};
  return isWithin(count, PIECES_MAX) && isWithin(index, count - 1) ? { index, count } : null;
}

const isWithin = (value: unknown, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;

/** @throws OpenAiFailure where there are so many that making events of them would take all memory */
function itemsOf(value: RawJson): readonly RawJson[] {
  if (hasTooManyLines(value)) throw unfit('has too many lines');
  if (!value.startsWith('[')) return [value];
  const items = sliceItems(value, ITEMS_MAX + 1);
  if (items.length > ITEMS_MAX) throw unfit('is a list of too many items');
  return items;
}

function hasTooManyLines(value: RawJson): boolean {
  let lines = 0;
  LINE_END.lastIndex = 0;
  while (lines <= ITEMS_MAX && LINE_END.test(value)) lines += 1;
  return lines > ITEMS_MAX;
}
