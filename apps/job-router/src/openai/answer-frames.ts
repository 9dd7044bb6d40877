import { sliceItems, sliceMembers, type RawJson } from '@berth/domain';
import { encodeEvent } from '../job-stream/event-stream.port.js';
import { failureInOutput } from './openai-failure.js';

const DONE = 'data: [DONE]\n\n';
const EVENT_END = /(\r\n\r\n|\n\n|\r\r)$/;

/**
 * Turns what a worker streams into the text of an event stream. Strings are such text already and go out as they are,
 * cut wherever the worker cut them; anything else becomes one event for each item, with the end marked afterwards.
 */
export class AnswerFrames {
  /** Pieces of a value that was too large for one chunk. */
  #pieces: string[] = [];
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

  /**
   * The text of one chunk; empty while a split value is not whole.
   *
   * @param body what the worker posted
   * @throws OpenAiFailure when the worker streams an error
   */
  chunk(body: RawJson): string {
    const members = body.trimStart().startsWith('{') ? sliceMembers(body) : null;
    const output = members?.get('output');
    if (members === null || output === undefined) return this.output(body);
    const part = members.get('part');
    return part === undefined ? this.output(output) : this.#piece(output, part);
  }

  /** The text of a value. @throws OpenAiFailure when it is an error */
  output(output: RawJson): string {
    const value = output.trim() as RawJson;
    const items = value.startsWith('[') ? sliceItems(value) : [value];
    const text = items.map((item) => this.#item(item)).join('');
    this.#lastText = (this.#lastText + text).slice(-EVENT_END_CHARACTERS);
    return text;
  }

  /** What is still due after the last chunk of a worker that has done its work. */
  end(): string {
    return this.#hasFrames ? DONE : '';
  }

  #piece(output: RawJson, part: RawJson): string {
    this.#pieces.push(JSON.parse(output) as string);
    const { count } = JSON.parse(part) as { readonly count: number };
    if (this.#pieces.length < count) return '';
    const whole = this.#pieces.join('') as RawJson;
    this.#pieces = [];
    return this.output(whole);
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

/** The longest end of an event. */
const EVENT_END_CHARACTERS = 4;
