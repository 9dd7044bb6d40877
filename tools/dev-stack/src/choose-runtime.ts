import { request as httpRequest } from 'node:http';
import { ConfigError } from '@berth/lifecycle';
import type { StackConfig } from './config.js';

export interface RuntimeChoice {
  readonly runtime: 'docker' | 'process';
  readonly why: string;
}

/** Image of the sample worker under the docker runtime. */
export const SAMPLE_IMAGE = 'local/python-echo:latest';

const ENGINE_TIMEOUT_MS = 3_000;

/**
 * `auto` takes containers where they can really be had: an engine answers and the sample image is there.
 *
 * @throws ConfigError when `docker` was asked for and no engine answers
 */
export async function chooseRuntime(config: Pick<StackConfig, 'runtime' | 'dockerSocket'>): Promise<RuntimeChoice> {
  if (config.runtime === 'process') return { runtime: 'process', why: 'as asked for' };
  const engine = await askEngine(config.dockerSocket, '/_ping');
  if (config.runtime === 'docker') {
    if (engine === 'ok') return { runtime: 'docker', why: 'as asked for' };
    throw new ConfigError([
      `BERTH_RUNTIME=docker, but no container engine answers on ${config.dockerSocket}: ${engine}`,
    ]);
  }
  if (engine !== 'ok') return { runtime: 'process', why: `no container engine on ${config.dockerSocket}` };
  const image = await askEngine(config.dockerSocket, `/images/${encodeURIComponent(SAMPLE_IMAGE)}/json`);
  return image === 'ok'
    ? { runtime: 'docker', why: `an engine answers and has ${SAMPLE_IMAGE}` }
    : { runtime: 'process', why: `an engine answers but has no image ${SAMPLE_IMAGE}` };
}

/** `ok`, or what went wrong. */
function askEngine(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve) => {
    const request = httpRequest({ socketPath, path, timeout: ENGINE_TIMEOUT_MS }, (response) => {
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
