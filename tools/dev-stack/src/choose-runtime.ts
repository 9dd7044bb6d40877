import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { engineCandidates, formatEngineAddress, type EngineAddress, type EngineCandidate } from '@berth/domain';
import { ConfigError, type Environment } from '@berth/lifecycle';
import type { StackConfig } from './config.js';

export interface RuntimeChoice {
  readonly runtime: 'docker' | 'process';
  readonly why: string;
  /** With `docker` the engine that answered. */
  readonly engine?: EngineCandidate;
}

/** Image of the sample worker under the docker runtime. */
export const SAMPLE_IMAGE = 'local/python-echo:latest';

const ENGINE_TIMEOUT_MS = 3_000;

/**
 * `auto` takes containers where they can really be had: an engine answers and the sample image is there.
 *
 * @param settings of the engine's own client, such as `DOCKER_HOST`
 * @throws ConfigError when `docker` was asked for and no engine answers, and when one was named that does not answer
 */
export async function chooseRuntime(
  config: Pick<StackConfig, 'runtime' | 'dockerSocket'>,
  settings: Environment = {},
): Promise<RuntimeChoice> {
  if (config.runtime === 'process') return { runtime: 'process', why: 'as asked for' };
  const candidates = candidatesOf(config, settings);
  const { engine, refusals } = await findEngine(candidates);
  if (engine === null) return withoutEngine(config, candidates, refusals);
  if (config.runtime === 'docker') return { runtime: 'docker', why: 'as asked for', engine };
  const image = await askEngine(engine.address, `/images/${encodeURIComponent(SAMPLE_IMAGE)}/json`);
  return image === 'ok'
    ? { runtime: 'docker', why: `an engine answers and has ${SAMPLE_IMAGE}`, engine }
    : { runtime: 'process', why: `an engine answers but has no image ${SAMPLE_IMAGE}` };
}

/** Which engine it is and why, in one line; empty without containers. */
export const describeEngine = ({ engine }: RuntimeChoice): string =>
  engine === undefined ? '' : `engine: ${formatEngineAddress(engine.address)} (${engine.source})`;

function candidatesOf(
  { dockerSocket }: Pick<StackConfig, 'dockerSocket'>,
  settings: Environment,
): readonly EngineCandidate[] {
  const own = dockerSocket === null ? {} : { BERTH_DOCKER_SOCKET: dockerSocket };
  const choices = engineCandidates({ ...settings, ...own });
  if (choices.kind === 'unusable') throw new ConfigError([`${choices.setting}: ${choices.detail}`]);
  return choices.candidates;
}

async function findEngine(
  candidates: readonly EngineCandidate[],
): Promise<{ readonly engine: EngineCandidate | null; readonly refusals: readonly string[] }> {
  const refusals: string[] = [];
  for (const engine of candidates) {
    const answer = await askEngine(engine.address, '/_ping');
    if (answer === 'ok') return { engine, refusals };
    refusals.push(`${formatEngineAddress(engine.address)} (${engine.source}): ${answer}`);
  }
  return { engine: null, refusals };
}

function withoutEngine(
  { runtime }: Pick<StackConfig, 'runtime'>,
  candidates: readonly EngineCandidate[],
  refusals: readonly string[],
): RuntimeChoice {
  const places = refusals.join('; ');
  const named = candidates.find(({ isNamed }) => isNamed);
  if (runtime === 'docker') throw new ConfigError([`BERTH_RUNTIME=docker, but no container engine answers: ${places}`]);
  if (named !== undefined) {
    const instead = 'BERTH_RUNTIME=process does without containers';
    throw new ConfigError([`${named.source} names a container engine that does not answer (${instead}): ${places}`]);
  }
  return { runtime: 'process', why: 'no container engine answers on any of the usual sockets' };
}

/** `ok`, or what went wrong. */
async function askEngine(address: EngineAddress, path: string): Promise<string> {
  let target: RequestOptions;
  try {
    target = await targetOf(address);
  } catch (error) {
    return (error as Error).message;
  }
  const ask = target.ca === undefined ? httpRequest : httpsRequest;
  return new Promise((resolve) => {
    const request = ask({ ...target, path, timeout: ENGINE_TIMEOUT_MS }, (response) => {
      response.resume();
      response.on('end', () => {
        resolve(response.statusCode === 200 ? 'ok' : `it answered ${response.statusCode ?? 'nothing'}`);
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${ENGINE_TIMEOUT_MS} ms`)));
    request.on('error', (error) => {
      resolve(error.message);
    });
    request.end();
  });
}

async function targetOf(address: EngineAddress): Promise<RequestOptions> {
  if (address.kind === 'socket') return { socketPath: address.path };
  const { certFolder, host, port } = address;
  if (certFolder === null) return { host, port };
  const files = ['ca.pem', 'cert.pem', 'key.pem'].map((file) => readFile(join(certFolder, file)));
  const [ca, cert, key] = await Promise.all(files);
  return { host, port, ca, cert, key };
}
