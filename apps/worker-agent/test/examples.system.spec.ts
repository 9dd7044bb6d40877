import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { EXAMPLES, TEST_TIMEOUT_MS, exampleWorker, useAgents } from './agent-bench.js';
import { W1, W2 } from './worker-bench.js';

const bench = useAgents();
const { control, endOf, phase, submit } = bench;
const SETTINGS = { BERTH_RUNTIME: 'process', BERTH_IMAGES: EXAMPLES };

/** Pieces that the job streamed, in their order. */
const piecesOf = (jobId: string): readonly unknown[] =>
  [...(control.router.chunks.get(jobId) ?? [])]
    .sort(([a], [b]) => a - b)
    .map(([, body]) => JSON.parse(body) as unknown);

describe('node-echo', () => {
  test(
    'echoes, fails, streams, works in parallel, stops, and ends its jobs before it leaves',
    async () => {
      const agent = bench.start(SETTINGS);
      control.desired = [exampleWorker(W1, 'local/node-echo')];
      expect(await endOf(submit({ message: 'ahoy' }))).toMatchObject({ output: { echo: { message: 'ahoy' } } });
      expect((await endOf(submit({ error: 'broken' }))).result).toMatchObject({ kind: 'failed', error: 'broken' });

      const streamed = submit({ chunks: 3 });
      await endOf(streamed);
      expect(piecesOf(streamed)).toMatchObject([0, 1, 2].map((index) => ({ output: { index } })));

      const together = [1, 2, 3, 4].map(() => submit({ sleep: 3 }));
      await eventually(() => {
        expect(together.map((id) => control.router.stateOf(id))).toEqual(together.map(() => 'running'));
      });
      await Promise.all(together.map(endOf));

      const cancelled = submit({ sleep: 600 });
      await phase(W1, 'busy');
      control.router.cancel(cancelled);
      await phase(W1, 'idle');

      const last = submit({ sleep: 2, message: 'last' });
      await phase(W1, 'busy');
      expect(await agent.end('SIGTERM')).toBe(0);
      expect(control.router.ended.get(last)?.output).toMatchObject({ echo: { message: 'last' } });
      expect(control.router.losses).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});

describe('python-echo', () => {
  test(
    'sets itself up, echoes and fails; with `stream` in its arguments it streams',
    async () => {
      const agent = bench.start(SETTINGS);
      control.desired = [exampleWorker(W1, 'local/python-echo')];
      await phase(W1, 'idle');
      expect(await endOf(submit({ message: 'ahoy' }))).toMatchObject({ output: { echo: { message: 'ahoy' } } });
      const failed = await endOf(submit({ error: 'broken' }));
      expect(failed.result.kind).toBe('failed');
      expect(JSON.stringify(failed.result)).toContain('broken');

      const first = exampleWorker(W1, 'local/python-echo');
      control.desired = [{ ...first, intent: 'drained' }, exampleWorker(W2, 'local/python-echo', 'stream')];
      await phase(W1, 'removed');
      await phase(W2, 'idle');
      const streamed = submit({ chunks: 3 });
      expect(await endOf(streamed)).toMatchObject({ output: [0, 1, 2].map((index) => ({ index })) });
      expect(piecesOf(streamed)).toMatchObject([0, 1, 2].map((index) => ({ output: { index } })));
      expect(await agent.end('SIGTERM')).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );
});
