import { describe, expect, jest, test } from '@jest/globals';
import { W1, W2, WorkerBench, assigned } from './worker-bench.js';

const CREDENTIALS = { username: 'ci-puller', password: 'correct horse' };

describe('credentials of a registry', () => {
  test('go to the pull of the worker that they came with, and to no other', async () => {
    const agent = await new WorkerBench().newAgent();
    const prepare = jest.spyOn(agent.runtime, 'prepare');
    await agent.want(assigned(W1, { registryCredentials: CREDENTIALS }), assigned(W2));
    expect(prepare.mock.calls.map(([request]) => request)).toEqual([
      { image: 'local/echo', credentials: CREDENTIALS },
      { image: 'local/echo', credentials: null },
    ]);
  });

  test('go to its start too, because an engine may ask the registry again, and to no other', async () => {
    const agent = await new WorkerBench().newAgent();
    const start = jest.spyOn(agent.runtime, 'start');
    await agent.want(assigned(W1, { registryCredentials: CREDENTIALS }), assigned(W2));
    expect(start.mock.calls.map(([{ credentials }]) => credentials)).toEqual([CREDENTIALS, undefined]);
  });

  test('are not in what the agent keeps on disk, nor in what the worker gets', async () => {
    const bench = new WorkerBench();
    const agent = await bench.newAgent();
    await agent.want(assigned(W1, { registryCredentials: CREDENTIALS }));
    const kept = JSON.stringify([...bench.records.list(), bench.machine.containers.get(W1)?.start]);
    expect(kept).toContain(W1);
    expect(kept).not.toContain(CREDENTIALS.username);
    expect(kept).not.toContain(CREDENTIALS.password);
  });
});
