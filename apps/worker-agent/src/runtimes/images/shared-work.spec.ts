import { describe, expect, test } from '@jest/globals';
import { SharedWork } from './shared-work.js';

/** Work that ends when the test says so. */
class Work {
  begun = 0;
  aborted = 0;
  readonly end = Promise.withResolvers<undefined>();
  percent: (percent: number) => void = () => undefined;
  heldUp: (reason: string | null) => void = () => undefined;

  readonly begin: Parameters<SharedWork['run']>[1] = async ({ onHeldUp, onPercent, signal }) => {
    this.begun += 1;
    this.percent = onPercent;
    this.heldUp = onHeldUp;
    signal.addEventListener('abort', () => {
      this.aborted += 1;
      this.end.reject(new Error('given up'));
    });
    await this.end.promise;
  };
}

const quietly = { signal: undefined, onPercent: undefined, onHeldUp: undefined };

describe('work that is shared', () => {
  test('is done once for all who ask while it runs, and anew afterwards', async () => {
    const shared = new SharedWork();
    const first = new Work();
    const both = [shared.run('a', first.begin, quietly), shared.run('a', first.begin, quietly)];
    first.end.resolve(undefined);
    await Promise.all(both);
    expect(first.begun).toBe(1);
    const second = new Work();
    second.end.resolve(undefined);
    await shared.run('a', second.begin, quietly);
    expect(second.begun).toBe(1);
  });

  test('fails for all of them, and is tried again by the next', async () => {
    const shared = new SharedWork();
    const work = new Work();
    const both = Promise.allSettled([shared.run('a', work.begin, quietly), shared.run('a', work.begin, quietly)]);
    work.end.reject(new Error('lost'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = new Work();
    again.end.resolve(undefined);
    await shared.run('a', again.begin, quietly);
    expect(again.begun).toBe(1);
  });

  test('goes on when one of two leaves, and is given up when both have', async () => {
    const shared = new SharedWork();
    const work = new Work();
    const [one, other] = [new AbortController(), new AbortController()];
    const first = shared.run('a', work.begin, { ...quietly, signal: one.signal });
    const second = shared.run('a', work.begin, { ...quietly, signal: other.signal });
    one.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    expect(work.aborted).toBe(0);
    other.abort(new Error('enough too'));
    await expect(second).rejects.toThrow('enough too');
    expect(work.aborted).toBe(1);
  });

  test('is neither begun nor waited for by one who has given up already', async () => {
    const shared = new SharedWork();
    const work = new Work();
    const asking = { ...quietly, signal: AbortSignal.abort(new Error('enough')) };
    await expect(shared.run('a', work.begin, asking)).rejects.toThrow('enough');
    expect(work.begun).toBe(0);
    const other = shared.run('a', work.begin, quietly);
    await expect(shared.run('a', work.begin, asking)).rejects.toThrow('enough');
    expect(work.aborted).toBe(0);
    work.end.resolve(undefined);
    await other;
  });

  test('tells each its progress, and who comes later how far it is', async () => {
    const shared = new SharedWork();
    const work = new Work();
    const told: number[][] = [[], []];
    const first = shared.run('a', work.begin, { ...quietly, onPercent: (percent) => told[0]?.push(percent) });
    work.percent(10);
    const second = shared.run('a', work.begin, { ...quietly, onPercent: (percent) => told[1]?.push(percent) });
    work.percent(90);
    work.end.resolve(undefined);
    await Promise.all([first, second]);
    expect(told).toEqual([
      [10, 90],
      [10, 90],
    ]);
  });

  test('tells each what holds it up, and who comes later what does at present', async () => {
    const shared = new SharedWork();
    const work = new Work();
    const told: (string | null)[][] = [[], [], []];
    const join = (index: number): Promise<void> =>
      shared.run('a', work.begin, { ...quietly, onHeldUp: (reason) => told[index]?.push(reason) });
    const first = join(0);
    work.heldUp('no network');
    const second = join(1);
    work.heldUp(null);
    const third = join(2);
    work.end.resolve(undefined);
    await Promise.all([first, second, third]);
    expect(told).toEqual([['no network', null], ['no network', null], []]);
  });
});
