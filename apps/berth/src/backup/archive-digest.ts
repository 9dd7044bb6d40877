import { createHash } from 'node:crypto';

/** Over what an archive holds, name and content of each entry in their order. */
export class ArchiveDigest {
  readonly #hash = createHash('sha256');

  add(name: string, bytes: Uint8Array): void {
    this.#hash.update(`${JSON.stringify(name)} ${bytes.byteLength}\n`);
    this.#hash.update(bytes);
  }

  /** Hex; nothing can be added afterwards. */
  finish(): string {
    return this.#hash.digest('hex');
  }
}
