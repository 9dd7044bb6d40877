import { eventually, type SeededRandom } from '@berth/testing';
import { expect } from '@jest/globals';
import type { DevFile } from '../../src/dev-file.js';
import { TenantClient } from '../../src/tenant-client.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
const CALL_MS = 30_000;
/** So long that it is cancelled before. */
const LONG_MS = 60_000;
const CHUNKS = 3;

interface Job {
  readonly id: string;
  readonly status: string;
  readonly output?: { readonly echo: string };
  readonly stream?: readonly { readonly output: { readonly index: number } }[];
}

/** What is submitted at one router is read, streamed and cancelled at the other, in both directions. */
export async function crossRouters(dev: DevFile, endpointId: string, random: SeededRandom): Promise<void> {
  const [first, second] = dev.routers.map(
    ({ runUrl }) => new RouterCaller(new TenantClient(() => ({ ...dev, runUrl }), CALL_MS), endpointId),
  );
  if (first === undefined || second === undefined) throw new Error('there are no two routers');
  const echo = random.uuid();
  await Promise.all([cross(first, second, echo), cross(second, first, echo)]);
}

async function cross(here: RouterCaller, there: RouterCaller, echo: string): Promise<void> {
  await Promise.all([readThere(here, there, echo), streamThere(here, there, echo), cancelThere(here, there, echo)]);
}

async function readThere(here: RouterCaller, there: RouterCaller, echo: string): Promise<void> {
  const id = await here.run({ echo, sleepMs: 0 });
  await eventually(async () => {
    expect(await there.get(`/status/${id}`)).toMatchObject({ status: 'COMPLETED', output: { echo } });
  }, WAIT);
}

async function streamThere(here: RouterCaller, there: RouterCaller, echo: string): Promise<void> {
  const id = await here.run({ echo, sleepMs: CHUNKS * 10, chunks: CHUNKS });
  const seen: number[] = [];
  await eventually(async () => {
    const { status, stream = [] } = await there.get(`/stream/${id}`);
    seen.push(...stream.map(({ output }) => output.index));
    expect([status, seen]).toEqual(['COMPLETED', Array.from({ length: CHUNKS }, (_, index) => index)]);
  }, WAIT);
}

async function cancelThere(here: RouterCaller, there: RouterCaller, echo: string): Promise<void> {
  const id = await here.run({ echo, sleepMs: LONG_MS });
  expect(await there.post(`/cancel/${id}`)).toMatchObject({ status: 'CANCELLED' });
  await eventually(async () => expect(await here.get(`/status/${id}`)).toMatchObject({ status: 'CANCELLED' }), WAIT);
}

/** A caller of one router. */
class RouterCaller {
  readonly #client: TenantClient;
  readonly #endpointId: string;

  constructor(client: TenantClient, endpointId: string) {
    this.#client = client;
    this.#endpointId = endpointId;
  }

  async run(input: object): Promise<string> {
    return (await this.post('/run', { input })).id;
  }

  get(path: string): Promise<Job> {
    return this.#call('GET', path);
  }

  post(path: string, body?: object): Promise<Job> {
    return this.#call('POST', path, body);
  }

  async #call(method: 'GET' | 'POST', path: string, body?: object): Promise<Job> {
    const answer = await eventually(async () => {
      const tried = await this.#client.job<Job>(method, `/${this.#endpointId}${path}`, body);
      // As callers do who are told to come again.
      expect(tried).not.toMatchObject({ status: 503 });
      return tried;
    }, WAIT);
    if (answer.status !== 200) throw new Error(`${method} ${path} was answered ${JSON.stringify(answer)}`);
    return answer.body;
  }
}
