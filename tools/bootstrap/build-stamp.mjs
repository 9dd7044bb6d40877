import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const GROUPS = ['apps', 'libs', 'tools'];
const SETTINGS = ['.swcrc', 'nx.json', 'package-lock.json', 'tools/bundle/bundle.mjs'];

/**
 * Says that the build is still good. nx puts every output folder in place anew, also when it holds what is wanted already,
 * and a process that starts meanwhile misses modules. So nx is asked only where a source has another name, size or time of
 * change than before the last build, or where an output folder is gone.
 */
export class BuildStamp {
  #root;
  #file;

  constructor(root) {
    this.#root = root;
    this.#file = join(root, '.cache/build-stamp');
  }

  stands() {
    const isBuilt = (folder) => existsSync(join(folder, 'dist'));
    return (
      existsSync(this.#file) &&
      readFileSync(this.#file, 'utf8') === this.#hashOfSources() &&
      this.#packages().every(isBuilt)
    );
  }

  /** Runs `build`. The sources are read before it, so one that changes meanwhile makes the next start build again. */
  async after(build) {
    rmSync(this.#file, { force: true });
    const sources = this.#hashOfSources();
    await build();
    writeFileSync(this.#file, sources);
  }

  #hashOfSources() {
    const files = this.#packages().flatMap((folder) => [
      join(folder, 'package.json'),
      ...filesBelow(join(folder, 'src')),
    ]);
    const hash = createHash('sha256');
    for (const path of [...files, ...SETTINGS.map((name) => join(this.#root, name))]) {
      const { mtimeMs, size } = statSync(path);
      hash.update(`${path}\0${size}\0${mtimeMs}\n`);
    }
    return hash.digest('hex');
  }

  #packages() {
    return GROUPS.flatMap((group) => {
      const folder = join(this.#root, group);
      return readdirSync(folder).map((name) => join(folder, name));
    }).filter((folder) => existsSync(join(folder, 'src')));
  }
}

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
