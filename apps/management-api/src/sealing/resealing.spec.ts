import { Writable } from 'node:stream';
import { SecretError } from '@berth/secrets';
import { createLogger, MetricRegistry } from '@berth/telemetry';
import { beforeEach, expect, test } from '@jest/globals';
import { Resealing } from './resealing.js';
import type { SealedPlace, SealedRow } from './sealed-place.js';

const row = (id: string, stale: string | null = 'old'): SealedRow => ({ key: [id], accountId: 'a', stale });

/** Rows in memory, in pages of two. */
class FakePlace implements SealedPlace {
  readonly kind: string;
  readonly renewed: string[] = [];
  looks = 0;
  readonly #rows: readonly SealedRow[];
  readonly #renew: (id: string) => boolean;

  constructor(kind: string, rows: readonly SealedRow[], renew: (id: string) => boolean = () => true) {
    this.kind = kind;
    this.#rows = rows;
    this.#renew = renew;
  }

  page(after: readonly string[] | null): Promise<readonly SealedRow[]> {
    if (after === null) this.looks += 1;
    const behind = after === null ? this.#rows : this.#rows.filter(({ key }) => String(key[0]) > String(after[0]));
    return Promise.resolve(behind.slice(0, 2));
  }

  renew({ key: [id = ''] }: SealedRow): Promise<boolean> {
    this.renewed.push(id);
    return Promise.resolve().then(() => this.#renew(id));
  }
}

let log: string;
let metrics: MetricRegistry;

beforeEach(() => {
  log = '';
  metrics = new MetricRegistry();
});

const output = new Writable({
  write: (chunk: Buffer, _, done) => {
    log += chunk.toString();
    done();
  },
});

const resealingOf = (places: readonly SealedPlace[], hasOtherKeys = true): Resealing => {
  const logger = createLogger({ name: 'test', level: 'debug', format: 'json', output });
  return new Resealing({ places, secrets: { hasOtherKeys }, logger, metrics });
};

const never = new AbortController().signal;
const unopenable = (id: string): boolean => {
  if (id === 'b') throw new SecretError('unknown-key', 'There is no key.');
  return true;
};

test('looks at every page, and at what is stale in it only', async () => {
  const place = new FakePlace('p', [row('a'), row('b', null), row('c', null), row('d'), row('e')]);
  await resealingOf([place]).run(never);
  expect(place.renewed).toEqual(['a', 'd', 'e']);
  expect(await metrics.text()).toContain('berth_management_resealed_total{kind="p"} 3\n');
});

test('what cannot be opened stops only itself, and is told of once in a pass', async () => {
  const place = new FakePlace('p', [row('a'), row('b'), row('c')], unopenable);
  await resealingOf([place]).run(never);
  expect(place.renewed).toEqual(['a', 'b', 'c']);
  const text = await metrics.text();
  expect(text).toContain('berth_management_sealed_with_old_keys{kind="p"} 1\n');
  expect(text).toContain('berth_management_reseal_failures_total{kind="p"} 1\n');
  expect(log.match(/cannot be opened/g)).toHaveLength(1);
});

test('what was changed meanwhile is left for the next pass', async () => {
  const place = new FakePlace('p', [row('a')], () => false);
  const resealing = resealingOf([place]);
  await resealing.run(never);
  expect(await metrics.text()).toContain('berth_management_sealed_with_old_keys{kind="p"} 1\n');
  await resealing.run(never);
  expect(place.renewed).toEqual(['a', 'a']);
});

test('a place that fails stops no other, and says no number', async () => {
  const fails = new FakePlace('fails', [row('a')], () => {
    throw new Error('no connection');
  });
  const works = new FakePlace('works', [row('a')]);
  await resealingOf([fails, works]).run(never);
  expect(works.renewed).toEqual(['a']);
  expect(await metrics.text()).not.toContain('sealed_with_old_keys{kind="fails"}');
  expect(log).toContain('no connection');
});

test('ends between two rows when the process ends', async () => {
  const stop = new AbortController();
  const place = new FakePlace('p', [row('a'), row('b')], () => {
    stop.abort();
    return true;
  });
  await resealingOf([place]).run(stop.signal);
  expect(place.renewed).toEqual(['a']);
});

test('with one key there is one whole look, to tell of what it does not open', async () => {
  const place = new FakePlace('p', [row('b')], unopenable);
  const resealing = resealingOf([place], false);
  await resealing.run(never);
  await resealing.run(never);
  expect(place.looks).toBe(1);
  expect(await metrics.text()).toContain('berth_management_sealed_with_old_keys{kind="p"} 1\n');
});
