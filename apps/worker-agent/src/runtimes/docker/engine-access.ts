import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { formatEngineAddress, type EngineAddress, type EngineCandidate } from '@berth/domain';
import Dockerode, { type DockerOptions } from 'dockerode';
import { RuntimeError } from '../runtime-error.js';
import { fromEngineError } from './engine-errors.js';

/** The way to one engine. */
export interface EngineAccess {
  /** For people: `unix:///var/run/docker.sock`. */
  readonly name: string;
  readonly options: DockerOptions;
}

const PING_MS = 5_000;

/** @throws RuntimeError `runtime-unavailable` when its certificates cannot be read */
export async function accessTo(address: EngineAddress): Promise<EngineAccess> {
  const name = formatEngineAddress(address);
  // The client would take what is not given from DOCKER_HOST, and prefer it; every part is given.
  const nothing = { host: undefined, port: undefined, socketPath: undefined } as object;
  if (address.kind === 'socket') return { name, options: { ...nothing, protocol: 'http', socketPath: address.path } };
  const { host, port, certFolder } = address;
  if (certFolder === null) return { name, options: { ...nothing, protocol: 'http', host, port } };
  try {
    const [ca, cert, key] = await Promise.all(
      ['ca.pem', 'cert.pem', 'key.pem'].map((file) => readFile(join(certFolder, file))),
    );
    return { name, options: { ...nothing, protocol: 'https', host, port, ca, cert, key } };
  } catch (error) {
    throw fromEngineError(error, `The certificates for the container engine at ${name} cannot be read`);
  }
}

export interface FoundEngine {
  readonly access: EngineAccess;
  readonly source: string;
}

/**
 * The first engine that answers. One that somebody named is the only candidate, so no other takes its place.
 *
 * @throws RuntimeError `runtime-unavailable`, naming each that was asked
 */
export async function findEngine(candidates: readonly EngineCandidate[]): Promise<FoundEngine> {
  const refusals: string[] = [];
  for (const { address, source } of candidates) {
    const access = await accessTo(address);
    try {
      await new Dockerode({ ...access.options, timeout: PING_MS }).ping();
      return { access, source };
    } catch (error) {
      refusals.push(`${access.name} cannot be used (${source}): ${(error as Error).message}`);
    }
  }
  throw new RuntimeError('runtime-unavailable', `No container engine answers: ${refusals.join('; ')}`);
}

/**
 * The folder in which the engine keeps images and what containers write, where this agent sees it; null where the engine is
 * on another machine, behind a port or in a virtual one, or the agent is in a container of its own.
 */
export async function dataFolderOf({ options }: EngineAccess): Promise<string | null> {
  if (options.socketPath === undefined) return null;
  const { DockerRootDir: folder } = (await new Dockerode({ ...options, timeout: PING_MS }).info()) as EngineFolders;
  const isHere = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isHere ? folder : null;
}

interface EngineFolders {
  readonly DockerRootDir: string;
}
