import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identifyProcess, type Clock, type Random } from '@berth/lifecycle';
import { RuntimeError, throwIfCancelled } from '../runtime-error.js';
import { findProducts, hashContent, listFolder } from './folder-content.js';
import { FolderLock } from './folder-lock.js';
import type { ImageFolder } from './image-folder.js';
import { killGroup } from './process-group.js';

export interface SetupOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Whole environment of the setup's commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** For all commands of one image together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (line: string) => void;
}

/** Written into the folder after its setup; it says for which content that was. */
interface SetupStamp {
  readonly folder: string;
  readonly contentHash: string;
  /** Topmost paths that the setup made; they are no content. */
  readonly products: readonly string[];
}

const STATE_FOLDER = '.berth';
const OUTPUT_KEPT_CHARS = 64 * 1024;
const OUTPUT_SHOWN_CHARS = 1_500;

/**
 * Runs the folder's setup unless that was done for this very content.
 * @throws RuntimeError `setup-failed` with the last lines of its output, `cancelled`
 */
export async function runSetup(image: ImageFolder, options: SetupOptions): Promise<void> {
  if (image.setup.length === 0 || (await isSetUp(image.folder))) return;
  const state = join(image.folder, STATE_FOLDER);
  await mkdir(state, { recursive: true });
  options.onProgress(`setting up ${image.folder}`);
  const lock = await FolderLock.acquire({
    path: join(state, 'setup.lock'),
    clock: options.clock,
    random: options.random,
    waitMaxMs: options.timeoutMs,
    signal: options.signal,
  });
  try {
    if (await isSetUp(image.folder)) return;
    await setUp(image, lock, options);
  } finally {
    await lock.release();
  }
}

/** Paths in the folder that its setup made. */
export async function productsOf(folder: string): Promise<readonly string[]> {
  return (await readStamp(folder))?.products ?? [];
}

async function isSetUp(folder: string): Promise<boolean> {
  const stamp = await readStamp(folder);
  // A copied folder carries a stamp that speaks of another place, and what a setup makes often knows where it lies.
  if (stamp?.folder !== folder) return false;
  return (await hashContent(folder, await listFolder(folder, new Set(stamp.products)))) === stamp.contentHash;
}

async function setUp(image: ImageFolder, lock: FolderLock, options: SetupOptions): Promise<void> {
  const { folder } = image;
  const earlier = await productsOf(folder);
  const before = await listFolder(folder, new Set(earlier));
  const deadlineMs = options.clock.monotonicMs() + options.timeoutMs;
  let output = '';
  for (const line of image.setup) {
    options.onProgress(`setup: ${line}`);
    output += await runLine(line, { folder, lock, deadlineMs, options });
  }
  await writeFile(join(folder, STATE_FOLDER, 'setup.log'), output);
  const products = [...new Set([...earlier, ...findProducts(before, await listFolder(folder, new Set(earlier)))])];
  // Hashed afterwards: a setup may edit what it found, and must not be repeated for that.
  const contentHash = await hashContent(folder, await listFolder(folder, new Set(products)));
  await writeStamp(folder, { folder, contentHash, products });
}

interface LineRun {
  readonly folder: string;
  readonly lock: FolderLock;
  readonly deadlineMs: number;
  readonly options: SetupOptions;
}

/** Runs one command line and returns what it printed. */
async function runLine(line: string, { folder, lock, deadlineMs, options }: LineRun): Promise<string> {
  throwIfCancelled(options.signal);
  // A group of its own, so that a time-out ends everything that the line started.
  const child = spawn('/bin/sh', ['-c', line], {
    cwd: folder,
    env: { ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output = keepOutput(child, options.onProgress);
  const limit = limitChild(child, deadlineMs, options);
  try {
    const ended = waitForEnd(child);
    if (child.pid !== undefined) await lock.note(await identifyProcess(child.pid));
    const end = await ended;
    throwIfCancelled(options.signal);
    if (end !== 'code 0') throw setupFailed(line, limit.isOver() ? 'no end within its time limit' : end, output());
    return output();
  } finally {
    limit.end();
    await lock.note(null);
  }
}

function setupFailed(line: string, end: string, output: string): RuntimeError {
  const lastWords = output.trim().slice(-OUTPUT_SHOWN_CHARS);
  const reason = /no space left on device/i.test(lastWords) ? 'disk-full' : 'setup-failed';
  return new RuntimeError(reason, `Setup "${line}" ended with ${end}: ${lastWords}`);
}

/** Kills the child's group when its time is over or the caller gives up. */
function limitChild(
  child: ChildProcess,
  deadlineMs: number,
  { clock, signal }: Pick<SetupOptions, 'clock' | 'signal'>,
): { readonly isOver: () => boolean; readonly end: () => void } {
  const ended = new AbortController();
  let isOver = false;
  const kill = (): void => {
    if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
  };
  void clock.sleep(Math.max(0, deadlineMs - clock.monotonicMs()), ended.signal).then(() => {
    if (ended.signal.aborted) return;
    isOver = true;
    kill();
  });
  signal?.addEventListener('abort', kill, { once: true });
  const end = (): void => {
    ended.abort();
    signal?.removeEventListener('abort', kill);
  };
  return { isOver: () => isOver, end };
}

/** Resolves with `code N`, or what else ended it, once its output was read. */
function waitForEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      resolve(error.message);
    });
    child.on('close', (code, signal) => {
      resolve(signal ?? `code ${String(code)}`);
    });
  });
}

/** Collects the end of what the child prints, and passes whole lines on. */
function keepOutput(child: ChildProcess, onProgress: (line: string) => void): () => string {
  let kept = '';
  let partial = '';
  const take = (chunk: Buffer): void => {
    const text = chunk.toString();
    kept = (kept + text).slice(-OUTPUT_KEPT_CHARS);
    const lines = (partial + text).split('\n');
    partial = (lines.pop() ?? '').slice(-OUTPUT_SHOWN_CHARS);
    lines.filter((line) => line.trim() !== '').forEach(onProgress);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return () => kept;
}

async function readStamp(folder: string): Promise<SetupStamp | null> {
  try {
    return JSON.parse(await readFile(join(folder, STATE_FOLDER, 'setup.json'), 'utf8')) as SetupStamp;
  } catch (error) {
    // Half a stamp is no stamp: the setup runs again, which it must be able to.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function writeStamp(folder: string, stamp: SetupStamp): Promise<void> {
  const path = join(folder, STATE_FOLDER, 'setup.json');
  await writeFile(`${path}.part`, JSON.stringify(stamp));
  await rename(`${path}.part`, path);
}
