import { silentLogger, type LogFields, type Logger } from '@berth/telemetry';
import { describe, expect, test } from '@jest/globals';
import { newConnectionLog } from './connection-log.js';
import type { ConnectionEvent } from './connection.js';

function open() {
  const lines: [level: string, message: string, fields: LogFields | undefined][] = [];
  const at =
    (level: string): Logger['info'] =>
    (message, fields) => {
      lines.push([level, message, fields]);
    };
  const log = newConnectionLog({ ...silentLogger, info: at('info'), debug: at('debug') }, 'nats', {
    connection: 'jobs',
  });
  const note = (kind: ConnectionEvent['kind'], detail = ''): void => log({ kind, detail });
  const words = (level: string): string[] => lines.filter(([each]) => each === level).map(([, message]) => message);
  return { lines, note, words };
}

describe('what becomes of a connection', () => {
  test('is a line with its kind, the name of the connection and the detail', () => {
    const { lines, note } = open();
    note('disconnect', 'broker-1:4222');
    note('reconnect', 'broker-2:4222');
    expect(lines).toEqual([
      ['info', 'nats: disconnect', { connection: 'jobs', detail: 'broker-1:4222' }],
      ['info', 'nats: reconnect', { connection: 'jobs', detail: 'broker-2:4222' }],
    ]);
  });

  test('is said once while a broker refuses it, and at debug from then on', () => {
    const { note, words } = open();
    for (let tries = 0; tries < 3; tries += 1) {
      note('update');
      note('error', 'Authorization Violation');
      note('disconnect', 'broker-1:4222');
    }
    expect(words('info')).toEqual(['nats: update', 'nats: error', 'nats: disconnect']);
    expect(words('debug')).toHaveLength(6);
  });

  test('is said again for every time that it stood meanwhile, and for every other cause', () => {
    const { note, words } = open();
    note('connect-failed', 'connection refused');
    note('connect-failed', 'connection refused');
    note('connect-failed', 'Authorization Violation');
    note('disconnect', 'broker-1:4222');
    note('reconnect', 'broker-1:4222');
    note('disconnect', 'broker-1:4222');
    note('disconnect', 'broker-2:4222');
    expect(words('info')).toEqual([
      ...['nats: connect-failed', 'nats: connect-failed', 'nats: disconnect', 'nats: reconnect'],
      ...['nats: disconnect', 'nats: disconnect'],
    ]);
    expect(words('debug')).toEqual(['nats: connect-failed']);
  });

  test('keeps a bounded number of causes in mind', () => {
    const { note, words } = open();
    for (let cause = 0; cause < 1_000; cause += 1) note('error', `cause ${String(cause)}`);
    note('error', 'cause 0');
    expect(words('info')).toHaveLength(1_001);
  });
});
