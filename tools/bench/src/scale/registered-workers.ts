import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@berth/lifecycle';
import { Agent, request } from 'undici';

interface Registered {
  readonly workerId: string;
  readonly takeUrl: string;
  readonly doneUrl: string;
  readonly authorization: string;
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body?: string;
}

const LOOK_MS = 500;
const PAUSE_MS = 500;
const TIMEOUT_MS = 120_000;

/** Takes jobs and answers each with its input, for all workers that have written into a folder where they are to be asked. */
export class RegisteredWorkers {
  readonly #folder: string;
  readonly #known = new Set<string>();
  readonly #end = new AbortController();
  /** One for each worker: a connection belongs to the worker that has shown its token there. */
  readonly #agents: Agent[] = [];
  readonly #stopLooks: () => void;
  #ended = 0;
  #failed = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#stopLooks = systemClock.every(LOOK_MS, () => void this.#look());
  }

  get count(): number {
    return this.#known.size;
  }

  /** Jobs of which the end was taken. */
  get ended(): number {
    return this.#ended;
  }

  /** Calls that were refused or broken off. */
  get failed(): number {
    return this.#failed;
  }

  async stop(): Promise<void> {
    this.#stopLooks();
    this.#end.abort();
    await Promise.all(this.#agents.map((agent) => agent.destroy()));
  }

  async #look(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (name.startsWith('.') || this.#known.has(name)) continue;
      this.#known.add(name);
      void this.#serve(JSON.parse(await readFile(join(this.#folder, name), 'utf8')) as Registered);
    }
  }

  async #serve({ authorization, doneUrl, takeUrl, workerId }: Registered): Promise<void> {
    const take = takeUrl.replace('$ID', workerId);
    const agent = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, connections: 1 });
    this.#agents.push(agent);
    const call = (each: Call): Promise<string> => this.#call(agent, authorization, each);
    while (!this.#end.signal.aborted) {
      try {
        const taken = await call({ method: 'GET', url: `${take}&job_in_progress=0` });
        if (taken === '') continue;
        const { id, input } = JSON.parse(taken) as { id: string; input: unknown };
        const done = doneUrl.replace('$RUNPOD_POD_ID', workerId).replace('$ID', id);
        const body = JSON.stringify({ output: input });
        await call({ method: 'POST', url: `${done}&isStream=false`, body });
        this.#ended += 1;
      } catch {
        if (!this.#end.signal.aborted) this.#failed += 1;
        await systemClock.sleep(PAUSE_MS, this.#end.signal);
      }
    }
  }

  async #call(dispatcher: Agent, authorization: string, { url, ...rest }: Call): Promise<string> {
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await request(url, { ...rest, headers, dispatcher });
    const text = await answer.body.text();
    if (answer.statusCode === 200) return text;
    if (answer.statusCode === 204 || answer.statusCode === 400) return '';
    throw new Error(`${url} answered ${answer.statusCode}`);
  }
}
