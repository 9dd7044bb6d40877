import { beforeEach, describe, expect, test } from '@jest/globals';
import { Writable } from 'node:stream';
import { HeldWrites } from './held-writes.js';

/** Notes what leaves in each call. */
class Connection extends Writable {
  readonly calls: string[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: () => void): void {
    this.calls.push(chunk.toString());
    written();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], written: () => void): void {
    this.calls.push(chunks.map(({ chunk }) => chunk.toString()).join(''));
    written();
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('writes that are held back', () => {
  let connection: Connection;
  let writes: HeldWrites;

  const say = (text: string): void => {
    writes.hold();
    connection.write(text);
  };

  beforeEach(() => {
    connection = new Connection();
    writes = new HeldWrites(() => connection);
  });

  test('leave together at the end of their turn, also those of later ticks of it', async () => {
    say('a');
    process.nextTick(() => say('b'));
    queueMicrotask(() => say('c'));
    expect(connection.calls).toEqual([]);
    await nextTurn();
    expect(connection.calls).toHaveLength(1);
    say('d');
    await nextTurn();
    expect(connection.calls.slice(1)).toEqual(['d']);
    expect(connection.writableCorked).toBe(0);
  });

  test('are all heard before the connection is cut, whoever else holds back', async () => {
    connection.cork();
    say('a');
    say('b');
    writes.letGo();
    connection.destroy();
    expect(connection.calls).toEqual(['ab']);
    await nextTurn();
    expect(connection.calls).toEqual(['ab']);
  });

  test('are not held back where there is no connection', () => {
    const none = new HeldWrites(() => null);
    none.hold();
    none.letGo();
    connection.write('a');
    expect(connection.calls).toEqual(['a']);
  });

  test('leave when the connection ends in that turn', async () => {
    say('a');
    connection.end('b');
    await nextTurn();
    expect(connection.calls.join('')).toBe('ab');
  });
});
