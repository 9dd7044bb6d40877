import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '@berth/lifecycle';
import { ManualClock, letRun } from '@berth/testing';
import { silentLogger } from '../logging/logger.js';
import { runMain, type Main, type ProcessHost } from './run-main.js';
import { listenError } from './startup-error.js';

class FakeHost implements ProcessHost {
  readonly exits: number[] = [];
  written = '';
  readonly #listeners = new Map<string, (argument: unknown) => void>();
  readonly stderr = {
    write: (text: string): void => {
      this.written += text;
    },
  };

  on(event: string, listener: (argument: unknown) => void): void {
    this.#listeners.set(event, listener);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  async emit(event: string, argument?: unknown): Promise<void> {
    this.#listeners.get(event)?.(argument);
    await letRun();
  }
}

async function started(start: (main: Main) => Promise<void> | void, clock = new ManualClock()): Promise<FakeHost> {
  const host = new FakeHost();
  await runMain(
    'job-router',
    async (main) => {
      main.logTo(silentLogger);
      await start(main);
    },
    { host, clock, stopLimitMs: 1_000 },
  );
  return host;
}

describe('a process that cannot start', () => {
  test('names every bad setting and exits 1', async () => {
    const host = await started(() => {
      throw new ConfigError(['BERTH_NATS_URL is missing']);
    });
    expect(host.written).toBe('job-router: Bad settings:\n  BERTH_NATS_URL is missing\n');
    expect(host.exits).toEqual([1]);
  });

  test('names the port that is taken and undoes what it had begun', async () => {
    const stopped: string[] = [];
    const host = await started((main) => {
      main.onStop('nats', () => void stopped.push('nats'));
      throw listenError({ code: 'EADDRINUSE' }, { host: '0.0.0.0', port: 8001, variable: 'BERTH_HTTP_PORT' });
    });
    expect(host.written).toContain('Port 8001 on 0.0.0.0 is already in use. Set BERTH_HTTP_PORT');
    expect([host.exits, stopped]).toEqual([[1], ['nats']]);
  });
});

describe('a process that is told to stop', () => {
  test('stops what it started last first, once, and exits 0', async () => {
    const stopped: string[] = [];
    const host = await started((main) => {
      main.onStop('nats', () => void stopped.push('nats'));
      main.onStop('http', async () => void stopped.push('http'));
    });
    await host.emit('SIGTERM');
    expect(stopped).toEqual(['http', 'nats']);
    expect(host.exits).toEqual([0]);
  });

  test('goes on when a step fails or hangs, and exits 1 when its time is over', async () => {
    const clock = new ManualClock();
    const stopped: string[] = [];
    const host = await started((main) => {
      main.onStop('nats', () => void stopped.push('nats'));
      main.onStop('stuck', () => new Promise(() => undefined));
      main.onStop('broken', () => Promise.reject(new Error('no')));
    }, clock);
    await host.emit('SIGINT');
    expect(host.exits).toEqual([]);
    await clock.advance(1_000);
    await letRun();
    expect(stopped).toEqual(['nats']);
    expect(host.exits).toEqual([1]);
  });

  test('has as much more time as it is given', async () => {
    const clock = new ManualClock();
    const host = await started((main) => {
      main.allowMore(500);
      main.onStop('slow', () => clock.sleep(1_400));
    }, clock);
    await host.emit('SIGTERM');
    await clock.advance(1_400);
    await letRun();
    expect(host.exits).toEqual([0]);
  });

  test('exits at once when it is told twice', async () => {
    const host = await started((main) => {
      main.onStop('stuck', () => new Promise(() => undefined));
    });
    await host.emit('SIGINT');
    await host.emit('SIGINT');
    expect(host.exits).toEqual([1]);
  });
});

test('an error nobody caught ends the process with 1', async () => {
  const host = await started(() => undefined);
  await host.emit('unhandledRejection', new Error('defect'));
  expect(host.exits).toEqual([1]);
});

test('a part may end the process in order', async () => {
  const stopped: string[] = [];
  const host = await started((main) => {
    main.onStop('http', () => void stopped.push('http'));
    main.fail(new Error('lost for good'));
  });
  await letRun();
  expect([host.exits, stopped]).toEqual([[1], ['http']]);
});
