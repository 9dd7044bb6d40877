import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { misuse } from '../program/index.js';
import type { InstallationRecord } from './installation.js';
import type { InstallationFile } from './installation-files.js';

/** It is apart from what processes read, so that it can be kept where none of them runs. */
const INSTALLATION_PATH = 'offline/installation.json';
const OWNER_ONLY = 0o600;
const EVERYBODY_READS = 0o644;
const OWNERS_FOLDER = 0o700;
const EVERYBODYS_FOLDER = 0o755;
/** A crash leaves these behind; no file of an installation ends so. */
const DRAFT = '.new';

/** The folder that an installation is kept in. Each file is there as a whole, or not at all. */
export class InstallationFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * The installation that the folder holds; null: none yet.
   *
   * @throws CommandError where its other files are there without it, or it cannot be read
   */
  async read(): Promise<InstallationRecord | null> {
    const text = await readIfThere(join(this.path, INSTALLATION_PATH));
    if (text !== null) return parseInstallation(join(this.path, INSTALLATION_PATH), text);
    const others = (await entriesOf(this.path)).filter((name) => !name.endsWith(DRAFT) && name !== 'offline');
    if (others.length === 0) return null;
    throw misuse(
      `${this.path} holds files (${others.slice(0, 5).join(', ')}), but no ${INSTALLATION_PATH}.`,
      'Put that file back if this is an installation, or name a folder that is empty or not there.',
    );
  }

  /** Keeps a new installation. False: somebody else was first, and theirs is the one. */
  create(installation: InstallationRecord): Promise<boolean> {
    return this.#write(installationFile(installation), link);
  }

  async replace(installation: InstallationRecord): Promise<void> {
    await this.#write(installationFile(installation), rename);
  }

  /** False: it is there, and was left as it is. */
  writeIfMissing(file: InstallationFile): Promise<boolean> {
    return this.#write(file, link);
  }

  async overwrite(file: InstallationFile): Promise<void> {
    await this.#write(file, rename);
  }

  /** Null: it is not there. */
  readFile(path: string): Promise<string | null> {
    return readIfThere(join(this.path, path));
  }

  async #write({ isSecret, path, text }: InstallationFile, place: typeof link): Promise<boolean> {
    const target = join(this.path, path);
    await mkdir(this.path, { recursive: true, mode: OWNERS_FOLDER });
    await mkdir(dirname(target), { recursive: true, mode: isPublicFolder(path) ? EVERYBODYS_FOLDER : OWNERS_FOLDER });
    const draft = `${target}.${randomBytes(6).toString('hex')}${DRAFT}`;
    try {
      await writeWhole(draft, text, isSecret ? OWNER_ONLY : EVERYBODY_READS);
      await place(draft, target);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }
}

/** A broker with a user of its own has to get there. */
const isPublicFolder = (path: string): boolean => path.startsWith('tls/') || path.startsWith('broker/');

/** On the disk before it gets its name, so that after a power cut no empty file has it. */
async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

const installationFile = (installation: InstallationRecord): InstallationFile => ({
  path: INSTALLATION_PATH,
  text: `${JSON.stringify(installation, undefined, 2)}\n`,
  isSecret: true,
});

function parseInstallation(path: string, text: string): InstallationRecord {
  try {
    const kept = JSON.parse(text) as Partial<InstallationRecord>;
    if (kept.format === 1) return kept as InstallationRecord;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw misuse(
    `${path} is no installation that this version knows.`,
    'Use the version of berth that wrote it, or newer.',
  );
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
