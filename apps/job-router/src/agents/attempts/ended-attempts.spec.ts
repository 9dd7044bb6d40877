import { Writable } from 'node:stream';
import type { EndAnswer } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { NO_TRACES, createLogger } from '@berth/telemetry';
import { expect, test } from '@jest/globals';
import { EndedAttempts } from './ended-attempts.js';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const END = {
  ...{ endpointId: 'e1', jobId: 'j1', attempt: 1, token: 't0k3n', chunks: 0, result: { kind: 'timed-out' } },
  traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-00`,
};

test('an end that fails here is refused alone, and the line that says why leads to its trace', async () => {
  const logged: object[] = [];
  const output = new Writable({
    write: (line: Buffer, _, done) => {
      logged.push(JSON.parse(line.toString()) as object);
      done();
    },
  });
  const attempts = new EndedAttempts({
    logger: createLogger({ name: 'test', level: 'debug', format: 'json', output }),
    reporting: {
      done: (_, { jobId }) =>
        jobId === 'j1' ? Promise.reject(new Error('a fault of ours')) : Promise.resolve({ outcome: 'recorded' }),
    },
    traces: NO_TRACES,
  });
  const answers: EndAnswer[] = [];
  await attempts.take('h1' as HostId, [END, { ...END, jobId: 'j2' }], (some) => answers.push(...some));
  expect(answers.toSorted((a, b) => a.place - b.place)).toMatchObject([
    { place: 0, error: { code: 'internal-error' } },
    { place: 1, outcome: 'recorded' },
  ]);
  expect(logged).toMatchObject([{ msg: 'the end of an attempt could not be taken', hostId: 'h1', traceId: TRACE_ID }]);
});
