import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { claimFolder, type Random } from '@berth/lifecycle';
import { misuse } from '../program/index.js';
import { diskFailure } from './disk-failure.js';
import type { InstallationRecord } from './installation.js';
import type { InstallationFile } from './installation-files.js';
import { clearDrafts, DRAFT, ifThere, replaceWhole, writeNew } from './whole-file.js';

/** It is apart from what processes read, so that it can be kept where none of them runs. */
const INSTALLATION_PATH = 'offline/installation.json';
/** The run that changes the folder has a claim there while it lasts. */
const CLAIMS_PATH = 'offline/claims';
const FOLDERS = ['offline', 'env', 'broker', 'tls'] as const;
const OWNER_ONLY = 0o600;
const EVERYBODY_READS = 0o644;
const OWNERS_FOLDER = 0o700;
const EVERYBODYS_FOLDER = 0o755;

/** The folder that an installation is kept in. Each file is there as a whole, or not at all. */
export class InstallationFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Changes the folder while no other run does, this process's or another's. A run that was killed keeps nobody out, and
   * the files that it had begun are removed: there may be secrets in them.
   *
   * @throws CommandError where another run is at work
   */
  async alone<Result>(random: Random, change: () => Promise<Result>): Promise<Result> {
    const claims = join(this.path, CLAIMS_PATH);
    await inWords(claims, 'written', () => mkdir(claims, { recursive: true, mode: OWNERS_FOLDER }));
    const claim = await inWords(claims, 'written', () => claimFolder(claims, random));
    if (claim === null) {
      throw misuse(
        `Another \`berth init\` is at work in ${this.path}.`,
        'Wait until it has ended, and run the same again.',
      );
    }
    try {
      for (const folder of FOLDERS) await inWords(this.path, 'written', () => clearDrafts(join(this.path, folder)));
      return await change();
    } finally {
      await claim.release();
    }
  }

  /**
   * The installation that the folder holds; null: none yet.
   *
   * @throws CommandError where its other files are there without it, or it cannot be read
   */
  async read(): Promise<InstallationRecord | null> {
    const text = await this.readFile(INSTALLATION_PATH);
    if (text !== null) return parseInstallation(join(this.path, INSTALLATION_PATH), text);
    const entries = (await inWords(this.path, 'read', () => ifThere(readdir(this.path)))) ?? [];
    const others = entries.filter((name) => !name.endsWith(DRAFT) && name !== 'offline');
    if (others.length === 0) return null;
    throw misuse(
      `${this.path} holds files (${others.slice(0, 5).join(', ')}), but no ${INSTALLATION_PATH}.`,
      'Put that file back if this is an installation, or name a folder that is empty or not there.',
    );
  }

  /** Keeps a new installation. False: somebody else was first, and theirs is the one. */
  create(installation: InstallationRecord): Promise<boolean> {
    return this.writeIfMissing(installationFile(installation));
  }

  async replace(installation: InstallationRecord): Promise<void> {
    await this.overwrite(installationFile(installation));
  }

  /** False: it is there, and was left as it is. */
  writeIfMissing(file: InstallationFile): Promise<boolean> {
    return this.#write(file, writeNew);
  }

  async overwrite(file: InstallationFile): Promise<void> {
    await this.#write(file, replaceWhole);
  }

  /** Null: it is not there. */
  readFile(path: string): Promise<string | null> {
    const target = join(this.path, path);
    return inWords(target, 'read', () => ifThere(readFile(target, 'utf8')));
  }

  #write<Result>({ isSecret, path, text }: InstallationFile, place: Place<Result>): Promise<Result> {
    const target = join(this.path, path);
    const folderMode = isPublicFolder(path) ? EVERYBODYS_FOLDER : OWNERS_FOLDER;
    return inWords(target, 'written', async () => {
      await mkdir(this.path, { recursive: true, mode: OWNERS_FOLDER });
      await mkdir(dirname(target), { recursive: true, mode: folderMode });
      return place(target, { text, mode: isSecret ? OWNER_ONLY : EVERYBODY_READS });
    });
  }
}

type Place<Result> = (path: string, content: { readonly text: string; readonly mode: number }) => Promise<Result>;

async function inWords<Result>(path: string, verb: 'read' | 'written', work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw diskFailure(path, verb, error);
  }
}

/** A broker with a user of its own has to get there. */
const isPublicFolder = (path: string): boolean => path.startsWith('tls/') || path.startsWith('broker/');

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
