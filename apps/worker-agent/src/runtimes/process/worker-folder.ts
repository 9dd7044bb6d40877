import { isAlive, parseIdentity, type ProcessIdentity } from '@berth/lifecycle';
import {
  appendFileSync,
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ContainerExit, ContainerLabels, OwnedContainerState } from '../container-runtime.port.js';
import { isStopped } from './process-group.js';
import { signalName } from '../signal-name.js';

interface LabelsFile {
  readonly containerId: string;
  readonly labels: ContainerLabels;
  readonly startedAtMs: number;
  /** Names of the GPUs that it holds; absent of one that an agent before 2026-11-25 started. */
  readonly gpus?: readonly string[];
  /** What such an agent wrote instead. */
  readonly gpuIndexes?: readonly number[];
  /** Of its network volume; absent where it has none. */
  readonly volumeFolder?: string;
}

export const heldNames = ({ gpuIndexes = [], gpus }: Pick<LabelsFile, 'gpus' | 'gpuIndexes'>): readonly string[] =>
  gpus ?? gpuIndexes.map(String);

const REMOVING_PREFIX = '.removing-';
const DRAFT_PREFIX = '.draft-';
const COPY_CHUNK_BYTES = 1_024 * 1_024;
/** The agent does nothing else meanwhile. */
const CATCH_UP_MAX_BYTES = 16 * COPY_CHUNK_BYTES;
const KEPT_FILES = 2;

/**
 * What is written down about one started worker, in a folder named after it:
 * `labels.json`, `identity` (of the shell around the program), `exit` (its code), `killed` and `paused` (we did it), `output.log`
 * and `output.1.log` (what was in it before; `output.next.log` while it is copied), `rotated` (how much has left the first for good), `work/` (where it runs) and `tmp/`.
 */
export class WorkerFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get work(): string {
    return join(this.path, 'work');
  }

  get temporary(): string {
    return join(this.path, 'tmp');
  }

  /** Null when there is no such worker. */
  async labels(): Promise<LabelsFile | null> {
    const text = await readIfThere(join(this.path, 'labels.json'));
    return text === null ? null : (JSON.parse(text) as LabelsFile);
  }

  /** Null until the program's shell has said who it is. */
  async identity(): Promise<ProcessIdentity | null> {
    const text = await readIfThere(join(this.path, 'identity'));
    return text === null ? null : parseIdentity(text);
  }

  /** Null while the program runs, and when nobody could write its code down. */
  async exitCode(): Promise<number | null> {
    const text = await readIfThere(join(this.path, 'exit'));
    return text === null ? null : Number(text);
  }

  async wasKilled(): Promise<boolean> {
    return (await readIfThere(join(this.path, 'killed'))) !== null;
  }

  /** Says before a SIGKILL that it is ours: it takes the shell along, which then cannot write the exit code. */
  async noteKill(): Promise<void> {
    await writeIfThere(join(this.path, 'killed'), '');
  }

  /** True from before we stop its processes until they go on: another may stop them too, and means something else. */
  async isPaused(): Promise<boolean> {
    return (await readIfThere(join(this.path, 'paused'))) !== null;
  }

  async notePaused(isPaused: boolean): Promise<void> {
    if (isPaused) await writeIfThere(join(this.path, 'paused'), '');
    else await rm(join(this.path, 'paused'), { force: true });
  }

  /**
   * Keeps the log bounded: three times `maxBytes`, and what comes between two calls. Of more than that the end is kept,
   * which readers find as a gap: nobody could read a flood in time.
   */
  async rotateLog(maxBytes: number): Promise<void> {
    const log = join(this.path, 'output.log');
    const size = await sizeOf(log);
    if (size <= maxBytes) return;
    // Beside the older one, from which a reader may be reading. The program has the file open for appending, so it is
    // emptied in place: what it writes next lands at the start.
    const next = join(this.path, 'output.next.log');
    const start = Math.max(0, size - KEPT_FILES * maxBytes);
    await pipeline(createReadStream(log, { start, end: size - 1 }), createWriteStream(next));
    this.#emptyCopied(log, { next, start, rotatedBytes: await this.#rotatedBytes() });
  }

  /**
   * What was written while the file was copied is copied too, and nothing of this agent comes between that and the
   * emptying: what a program writes in those microseconds is lost. Of one that writes faster than it can be copied
   * nothing is kept, which is a gap as well.
   */
  #emptyCopied(log: string, { next, rotatedBytes, start }: Rotation): void {
    const file = openSync(log, 'r+');
    try {
      const isWhole = copyRest(file, next, start);
      const leaving = isWhole ? start + statSync(next).size : fstatSync(file).size;
      if (!isWhole) truncateSync(next);
      renameSync(next, join(this.path, 'output.1.log'));
      writeFileSync(join(this.path, 'rotated'), String(rotatedBytes + leaving));
      ftruncateSync(file);
    } finally {
      closeSync(file);
    }
  }

  /** How much of the output has left `output.log` for good. */
  async #rotatedBytes(): Promise<number> {
    return Number((await readIfThere(join(this.path, 'rotated'))) ?? 0);
  }

  /**
   * Output from an offset on, which counts all that was ever printed.
   *
   * @returns from where it is: later than the offset where what was there is kept no longer
   */
  async readOutput(offset: number, bytesMax: number): Promise<{ readonly start: number; readonly bytes: Buffer }> {
    for (;;) {
      const rotated = await this.#rotatedBytes();
      const read = await this.#readOutput(offset, bytesMax, rotated);
      // Emptied meanwhile: what was read may be of either file.
      if ((await this.#rotatedBytes()) === rotated) return read;
    }
  }

  async #readOutput(
    offset: number,
    bytesMax: number,
    rotated: number,
  ): Promise<{ readonly start: number; readonly bytes: Buffer }> {
    if (offset < rotated) {
      const older = join(this.path, 'output.1.log');
      const oldest = rotated - (await sizeOf(older));
      const start = Math.max(offset, oldest);
      const bytes = await readFrom(older, start - oldest, bytesMax);
      if (bytes.length > 0) return { start, bytes };
    }
    const start = Math.max(offset, rotated);
    return { start, bytes: await readFrom(join(this.path, 'output.log'), start - rotated, bytesMax) };
  }

  async logTail(lines: number): Promise<readonly string[]> {
    const latest = await readEnd(join(this.path, 'output.log'));
    const before = countLines(latest) > lines ? '' : await readEnd(join(this.path, 'output.1.log'));
    const all = (before + latest).split('\n');
    if (all.at(-1) === '') all.pop();
    return lines === 0 ? [] : all.slice(-lines);
  }

  /** Takes it out of the list at once; its files go after that. */
  async remove(): Promise<void> {
    const aside = join(this.path, '..', `${REMOVING_PREFIX}${basename(this.path)}`);
    await rm(aside, { recursive: true, force: true });
    await renameIfThere(this.path, aside);
    await rm(aside, { recursive: true, force: true });
  }
}

interface Rotation {
  /** The copy. */
  readonly next: string;
  /** Where in the file it begins. */
  readonly start: number;
  readonly rotatedBytes: number;
}

/** Adds what the copy lacks of the file; false where it is still behind after as much as a copy may take in one go. */
function copyRest(file: number, copy: string, start: number): boolean {
  const chunk = Buffer.alloc(COPY_CHUNK_BYTES);
  let at = start + statSync(copy).size;
  const end = at + CATCH_UP_MAX_BYTES;
  while (at < end) {
    const count = readSync(file, chunk, 0, chunk.length, at);
    if (count === 0) return true;
    appendFileSync(copy, chunk.subarray(0, count));
    at += count;
  }
  return false;
}

/** A worker's folder appears under its name only when it is whole: `fill` works on a draft of it. */
export async function createWorkerFolder(
  parent: string,
  file: LabelsFile,
  fill: (draft: WorkerFolder) => Promise<void>,
): Promise<WorkerFolder> {
  const draft = new WorkerFolder(join(parent, `${DRAFT_PREFIX}${file.labels.workerId}`));
  await rm(draft.path, { recursive: true, force: true });
  await mkdir(draft.temporary, { recursive: true });
  await fill(draft);
  await writeFile(join(draft.path, 'labels.json'), JSON.stringify(file));
  const folder = new WorkerFolder(join(parent, file.labels.workerId));
  await rename(draft.path, folder.path);
  return folder;
}

export async function stateOf(folder: WorkerFolder): Promise<OwnedContainerState> {
  const identity = await folder.identity();
  if (identity === null) return { kind: 'created' };
  const isRunning = (await folder.exitCode()) === null && (await isAlive(identity));
  if (isRunning) return { kind: (await folder.isPaused()) && (await isStopped(identity.pid)) ? 'paused' : 'running' };
  // Read again: it may have ended, and written its code, between the two looks.
  return { kind: 'ended', exit: describeExit(await folder.exitCode(), await folder.wasKilled()) };
}

export async function listWorkerFolders(parent: string): Promise<readonly WorkerFolder[]> {
  const names = await readdir(parent).catch(() => []);
  return names.filter((name) => !name.startsWith('.')).map((name) => new WorkerFolder(join(parent, name)));
}

/** Removes what an interrupted start or removal left. Nothing of it runs. */
export async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const isLeftover = name.startsWith(REMOVING_PREFIX) || name.startsWith(DRAFT_PREFIX);
    if (isLeftover) await rm(join(parent, name), { recursive: true, force: true });
  }
}

const SIGNAL_BASE = 128;
const SIGKILL = 9;

/** What a code written by a shell means; `killedByUs` is for the case that nobody could write one. */
function describeExit(code: number | null, killedByUs: boolean): ContainerExit {
  if (code === null && killedByUs)
    return { code: SIGNAL_BASE + SIGKILL, cause: 'killed', detail: 'killed by the agent' };
  if (code === null) return { code, cause: 'unknown', detail: 'ended while nobody watched' };
  if (code === SIGNAL_BASE + SIGKILL && killedByUs) return { code, cause: 'killed', detail: 'killed by the agent' };
  if (code === SIGNAL_BASE + SIGKILL) {
    return { code, cause: 'killed', detail: 'killed from outside, perhaps because the machine ran out of memory' };
  }
  if (code > SIGNAL_BASE) return { code, cause: 'killed', detail: `ended by ${signalName(code - SIGNAL_BASE)}` };
  return { code, cause: 'exited', detail: `exited with code ${String(code)}` };
}

const TAIL_MAX_BYTES = 1024 * 1024;

async function readEnd(path: string): Promise<string> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return '';
  try {
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_MAX_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead).toString();
  } finally {
    await file.close();
  }
}

async function readFrom(path: string, offset: number, bytesMax: number): Promise<Buffer> {
  const file = await open(path, 'r').catch(nullIfMissing);
  if (file === null) return Buffer.alloc(0);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesMax), 0, bytesMax, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const countLines = (text: string): number => text.split('\n').length - 1;

async function readIfThere(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(nullIfMissing);
}

async function writeIfThere(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch(nullIfMissing);
}

async function renameIfThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch(nullIfMissing);
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
