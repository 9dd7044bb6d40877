import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runCommand, type ContainerEngine } from '@berth/servers';

const STEP_MS = 60_000;
const CONTAINER = 'bench-bare';
const NETWORK = 'bench-own';
/** As hosts start workers: in a network of its own, with limits, few rights, and somebody who collects its processes. */
const CONFINED = [
  ...['--network', NETWORK, '--init', '--cpus', '2', '--memory', '4g', '--memory-swap', '4g', '--pids-limit', '4096'],
  ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--ulimit', 'core=0'],
];
const JOB = JSON.stringify({ id: 'bare', input: { message: 'ahoy' } });

/**
 * The sample worker in a container that nobody looks after, and the least that can give it jobs: one listener that answers
 * its first request for a job with a job, holds every other, and hears the result.
 */
export class BareWorker {
  readonly #engine: ContainerEngine;
  readonly #image: string;
  readonly #parked = new Set<ServerResponse>();
  readonly #server = createServer((asked, response) => {
    asked.resume().once('end', () => {
      this.#answer(asked.url ?? '', response);
    });
  });
  #jobsToGive = 0;
  #onResult: () => void = () => undefined;

  constructor(engine: ContainerEngine, image: string) {
    this.#engine = engine;
    this.#image = image;
  }

  async open(): Promise<void> {
    await once(this.#server.listen(0, '0.0.0.0'), 'listening');
  }

  async close(): Promise<void> {
    await this.remove();
    const closed = once(this.#server.close(), 'close');
    this.#server.closeAllConnections();
    await closed;
  }

  /** `docker run` until its first job's result is heard. */
  run(): Promise<void> {
    return this.#run('bridge', []);
  }

  /** The same of a container that is confined and limited as a worker of Berth is; after `openNetwork`. */
  runConfined(): Promise<void> {
    return this.#run(NETWORK, CONFINED);
  }

  async openNetwork(): Promise<void> {
    await this.#docker('network', 'create', '--opt', 'com.docker.network.bridge.enable_icc=false', NETWORK);
  }

  async #run(network: string, words: readonly string[]): Promise<void> {
    const gateway = await this.#docker('network', 'inspect', network, '--format', '{{(index .IPAM.Config 0).Gateway}}');
    const result = this.#nextResult();
    await this.#docker('run', '--detach', '--name', CONTAINER, ...words, ...this.#variables(gateway), this.#image);
    await result;
  }

  async pause(): Promise<void> {
    await this.#docker('pause', CONTAINER);
  }

  /** `docker unpause`, by the engine's own client. */
  async unpause(): Promise<void> {
    await this.#docker('unpause', CONTAINER);
  }

  /** The same without the client's own start: one call over the engine's socket. */
  async unpauseOverSocket(): Promise<void> {
    const path = `/containers/${CONTAINER}/unpause`;
    const sent = request({ socketPath: this.#engine.socketPath, path, method: 'POST' }).end();
    const [answer] = (await once(sent, 'response')) as [{ readonly statusCode?: number; resume: () => void }];
    answer.resume();
    if (answer.statusCode !== 204) throw new Error(`unpause answered ${answer.statusCode ?? 'nothing'}`);
  }

  async remove(): Promise<void> {
    await this.#docker('rm', '--force', CONTAINER);
    this.#parked.clear();
  }

  #nextResult(): Promise<void> {
    this.#jobsToGive = 1;
    return new Promise((resolve) => {
      this.#onResult = resolve;
    });
  }

  #answer(url: string, response: ServerResponse): void {
    if (url.startsWith('/job-take/') && this.#jobsToGive > 0) {
      this.#jobsToGive -= 1;
      response.end(JOB);
    } else if (url.startsWith('/done')) {
      response.end('{}');
      this.#onResult();
    } else if (url.startsWith('/ping')) response.end('{}');
    else this.#parked.add(response);
  }

  #variables(gateway: string): readonly string[] {
    const base = `http://${gateway}:${(this.#server.address() as AddressInfo).port}`;
    const variables = {
      RUNPOD_POD_ID: 'bare',
      RUNPOD_AI_API_KEY: 'bare',
      RUNPOD_WEBHOOK_GET_JOB: `${base}/job-take/$ID?`,
      RUNPOD_WEBHOOK_POST_OUTPUT: `${base}/done/$RUNPOD_POD_ID/$ID?`,
      RUNPOD_WEBHOOK_POST_STREAM: `${base}/stream/$RUNPOD_POD_ID/$ID?`,
      RUNPOD_WEBHOOK_PING: `${base}/ping/$RUNPOD_POD_ID`,
    };
    return Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  }

  readonly #docker = async (...words: readonly string[]): Promise<string> =>
    (await runCommand('docker', ['--host', this.#engine.host, ...words], { timeoutMs: STEP_MS })).trim();
}
