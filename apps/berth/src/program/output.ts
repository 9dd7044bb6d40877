import type { Writable } from 'node:stream';
import { printableJson } from './printable-json.js';

/** Where the command says what it has done. */
export interface Streams {
  readonly stdout: Writable;
  readonly stderr: { write(text: string): unknown };
}

/** What a command has to say: one document for programs, or lines for people. */
export interface ToldOutcome {
  /** With `--json`, all that stdout gets. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

const INDENT = 2;

/** Says the outcome on stdout, and what concerns people alone on stderr. */
export class CommandOutput {
  readonly #streams: Streams;
  readonly #isJson: boolean;

  constructor(streams: Streams, isJson: boolean) {
    this.#streams = streams;
    this.#isJson = isJson;
  }

  say({ json, lines }: ToldOutcome): void {
    const text = this.#isJson ? printableJson(json, INDENT) : lines.join('\n');
    if (text !== '') this.#streams.stdout.write(`${text}\n`);
  }

  /** How far it has come; not part of the outcome. */
  note(line: string): void {
    this.#streams.stderr.write(`${line}\n`);
  }
}
