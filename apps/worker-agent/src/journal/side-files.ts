import { open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '@berth/lifecycle';

const NAME = /^body-[a-z0-9]+\.bin$/;

/** Bodies too large for the log, one file each, written before the commit that names them. */
export class SideFiles {
  readonly #folder: string;
  readonly #sizes = new Map<string, number>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes the files that no record names: their commit never came, so nobody was told of them. */
  static async open(folder: string, named: ReadonlySet<string>): Promise<SideFiles> {
    const files = new SideFiles(folder);
    const names = (await readdir(folder)).filter((name) => NAME.test(name));
    for (const name of names) {
      const path = join(folder, name);
      if (named.has(name)) files.#sizes.set(name, (await stat(path)).size);
      else await unlink(path);
    }
    return files;
  }

  get bytes(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  has(name: string): boolean {
    return this.#sizes.has(name);
  }

  /** Null when it is not there. */
  sizeOf(name: string): number | null {
    return this.#sizes.get(name) ?? null;
  }

  /** Resolves once content and name are on the disk. */
  async write(id: string, bytes: Uint8Array): Promise<string> {
    const name = `body-${id}.bin`;
    const path = join(this.#folder, name);
    const file = await open(path, 'wx');
    try {
      await file.writeFile(bytes);
      await file.sync();
    } catch (error) {
      await Promise.allSettled([unlink(path)]);
      throw error;
    } finally {
      await file.close();
    }
    await syncFolder(this.#folder);
    this.#sizes.set(name, bytes.byteLength);
    return name;
  }

  /** Bytes from `offset` on, at most `length`; shorter at the end. */
  async read(name: string, offset: number, length: number): Promise<Buffer> {
    const file = await open(join(this.#folder, name), 'r');
    try {
      // Callers name the most that they can take: memory is set aside for what is there.
      const present = Math.max(0, (this.#sizes.get(name) ?? 0) - offset);
      const buffer = Buffer.allocUnsafe(Math.min(length, present));
      const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, offset);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Absent is success. */
  async remove(name: string): Promise<void> {
    if (!this.#sizes.delete(name)) return;
    await unlink(join(this.#folder, name));
  }
}
