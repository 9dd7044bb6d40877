import { describe, expect, test } from '@jest/globals';
import { Writable } from 'node:stream';
import { addToLogContext, currentLogContext, runWithLogContext } from './log-context.js';
import { createLogger, type LogFormat, type Logger } from './logger.js';
import { NestLogger } from './nest-logger.js';

function capture(format: LogFormat): { logger: Logger; lines: () => string[]; text: () => string } {
  let text = '';
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  const logger = createLogger({ name: 'job-router', level: 'info', format, output });
  return { logger, text: () => text, lines: () => text.trimEnd().split('\n') };
}

describe('a line for people', () => {
  test('has time, level, process name, message and ids', async () => {
    const { logger, text } = capture('line');
    await runWithLogContext({ requestId: 'req_1' }, async () => {
      await Promise.resolve();
      addToLogContext({ jobId: 'job-7' });
      logger.info('Took a job', { attempt: 2 });
    });
    expect(text()).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}job-router {2}Took a job {2}requestId=req_1 jobId=job-7 attempt=2\n$/,
    );
  });

  test('is followed by the stack of an error and of its causes', () => {
    const { logger, lines } = capture('line');
    logger.error('could not save', { error: new Error('outer', { cause: new RangeError('inner') }) });
    expect(lines()[0]).toMatch(/ERROR job-router {2}could not save$/);
    expect(lines()[1]).toBe('    Error: outer');
    expect(lines()).toContain('    caused by RangeError: inner');
  });

  test('shows what a terminal would obey, or show as another text, for what it is', () => {
    const { logger, text } = capture('line');
    const hostile = 'a\u001B[2Jb\u0007\u009Bc\u202Ed\u2066e\u007F\r\n12:00:00.000 INFO  forged\u2028f';
    const shown = 'a\\u001b[2Jb\\u0007\\u009bc\\u202ed\\u2066e\\u007f\\u000d\\u000a12:00:00.000 INFO  forged\\u2028f';
    logger.warn(hostile, { line: hostile, [hostile]: 1, nested: { of: ['\u009B\u202E'] } });
    const error = new Error(hostile);
    error.stack = `Error: ${hostile}\n    at x`;
    logger.error('failed', { error });
    // eslint-disable-next-line no-control-regex
    expect(text()).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028\u202E\u2066]/);
    expect(text().match(/^\d\d:/gm)).toHaveLength(2);
    expect(text()).toContain(`  ${shown}  line=${shown} ${shown}=1 nested={"of":["\\u009b\\u202e"]}`);
    expect(text()).toContain('    Error: a\\u001b[2Jb');
    expect(text()).toContain('\n        at x\n');
  });

  test('is not written below the level', () => {
    const { logger, text } = capture('line');
    logger.debug('quiet');
    expect(text()).toBe('');
  });
});

describe('a line for machines', () => {
  test('is one JSON object with the same members', () => {
    const { logger, lines } = capture('json');
    logger.child({ hostId: 'h1' }).warn('late', { workerId: 'w1' });
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
      level: 40,
      name: 'job-router',
      msg: 'late',
      hostId: 'h1',
      workerId: 'w1',
      time: expect.any(Number),
    });
  });

  test('has fields of its own alone: neither the next line of the same work nor the work itself has them', () => {
    const { logger, lines } = capture('json');
    runWithLogContext({ requestId: 'req_1' }, () => {
      logger.info('took a job', { jobId: 'job-7', error: new Error('no') });
      logger.info('went on');
      expect(currentLogContext()).toEqual({ requestId: 'req_1' });
    });
    const [first, second] = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toMatchObject({ requestId: 'req_1', jobId: 'job-7' });
    expect(Object.keys(second ?? {}).sort()).toEqual(['level', 'msg', 'name', 'pid', 'requestId', 'time']);
  });

  test('`auto` is JSON where the output is no terminal', () => {
    const { logger, lines } = capture('auto');
    logger.info('x');
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ msg: 'x' });
  });
});

describe('secrets', () => {
  test.each([
    { authorization: 'hidden-1' },
    { request: { headers: { Authorization: 'hidden-1' } } },
    { body: { s3Config: { accessSecret: 'hidden-1' } } },
    { workers: [{ container: { env: { TOKEN: 'hidden-1' } } }] },
    { api_key: 'hidden-1' },
    { desired: [{ registryCredentials: { username: 'hidden-1', password: 'hidden-1' } }] },
    { password: 'hidden-1', token: 'hidden-1', apiKey: 'hidden-1' },
    { url: 'postgres://berth:hidden-1@127.0.0.1/berth' },
    { error: new Error('no connection to nats://user:hidden-1@host') },
  ])('never reach a line: %j', (fields) => {
    const { logger, text } = capture('json');
    logger.info('wrote', fields);
    logger.child(fields).info('to postgres://a:hidden-1@b');
    expect(text()).not.toContain('hidden-1');
    expect(text()).toContain('redacted');
  });
});

test('messages of the framework become our lines, its wiring only at level debug', () => {
  const { logger, lines } = capture('json');
  const nest = new NestLogger(logger);
  nest.log('Mapped {/x, GET} route', 'RouterExplorer');
  nest.error('boom', 'Error: boom\n  at x', 'SomeRoom');
  expect(lines()).toHaveLength(1);
  expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 50, msg: 'boom', room: 'SomeRoom' });
});
