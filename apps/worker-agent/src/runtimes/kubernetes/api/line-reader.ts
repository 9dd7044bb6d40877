/** Cuts what comes in pieces into its lines. */
export class LineReader {
  readonly #decoder = new TextDecoder();
  readonly #charactersMax: number;
  #rest = '';

  /** @param charactersMax a line that goes on beyond it is none, and its end is lost */
  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  take(bytes: Uint8Array): readonly string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    const rest = lines.pop() ?? '';
    this.#rest = rest.length > this.#charactersMax ? '' : rest;
    return lines.filter((line) => line !== '');
  }
}
