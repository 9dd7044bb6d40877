import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../random.js';

/** What it stands for is this process's own until it ends or lets go. */
export interface FolderClaim {
  release(): Promise<void>;
}

const SUFFIX = '.sock';
const ID_LENGTH = 12;
/** Of a socket's path: 104 bytes on macOS, 108 on Linux, each with a zero at the end. */
const PATH_MAX_BYTES = 103;

/**
 * Claims what a folder stands for, which holds claims and nothing else, for this process. Null: another one has it.
 *
 * A claim is a unix socket that listens there. A process that can connect to another's socket has found a living one, also in
 * another container on the same volume, where a pid says nothing: processes in containers are all number 1. The kernel
 * closes a socket with its process however that ends, so a socket that refuses is void and keeps nobody out; a heartbeat in
 * a file would make every start wait, and plain Node has no file locks.
 *
 * Each listens first and looks at the others then, so of two that start at once at least one sees the other; it may be
 * both, and then neither has it. No name is used twice, so clearing away a dead claim cannot hit a living one.
 *
 * @throws Error where the folder cannot be made, or its file system holds no sockets
 */
export async function claimFolder(folder: string, random: Random): Promise<FolderClaim | null> {
  const own = `${random.id(ID_LENGTH)}${SUFFIX}`;
  const way = await openWay(folder);
  try {
    const server = await listen(join(way.path, own));
    const claim = { release: () => letGo(server, join(folder, own)) };
    if (await isOnlyClaim(way.path, own)) return claim;
    await claim.release();
    return null;
  } finally {
    await way.close();
  }
}

/** A path to the folder that leaves room for a socket's name: through a link where its own is too long. */
async function openWay(folder: string): Promise<{ readonly path: string; close(): Promise<void> }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const longest = join(folder, 'x'.repeat(ID_LENGTH + SUFFIX.length));
  if (Buffer.byteLength(longest) <= PATH_MAX_BYTES) return { path: folder, close: () => Promise.resolve() };
  const temporary = await mkdtemp(join(tmpdir(), 'berth-'));
  const path = join(temporary, 'claims');
  await symlink(folder, path);
  return { path, close: () => rm(temporary, { recursive: true, force: true }) };
}

function listen(path: string): Promise<Server> {
  const server = createServer((visitor) => visitor.destroy());
  // It lives as long as the process does, and is no reason for it to live.
  server.unref();
  return new Promise((resolve, reject) => {
    // Kept for good: a visitor who could not be let in later has been told all the same that somebody is here.
    server.on('error', reject);
    server.listen(path, () => {
      resolve(server);
    });
  });
}

/** Clears dead claims away on its way. */
async function isOnlyClaim(folder: string, own: string): Promise<boolean> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX));
  // Another process took it for dead in the instant between its making and its listening.
  if (!names.includes(own)) return false;
  for (const other of names.filter((name) => name !== own)) {
    const path = join(folder, other);
    if (await isAlive(path)) return false;
    await rm(path, { force: true });
  }
  return true;
}

/** Only a plain refusal means that nobody is there: a listener that is too busy to answer lives. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const visit = connect(path);
    visit.once('connect', () => {
      visit.destroy();
      resolve(true);
    });
    visit.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}

async function letGo(server: Server, path: string): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
  await rm(path, { force: true });
}
