import { readFile } from 'node:fs/promises';
import type { StreamConfig } from '@nats-io/jetstream';
import { describe, expect, test } from '@jest/globals';
import { STORAGE_SHARES, streamConfigs, type TopologyPart, type TopologySize } from '../src/topology/streams.js';
import { driftOf } from '../src/topology/topology-drift.js';

const SIZE: TopologySize = { replicas: 1, storageBytes: 10_000_000_000, memoryBytes: 100_000_000 };
const THREE: TopologySize = { ...SIZE, replicas: 3 };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const PARTS = Object.keys(STORAGE_SHARES) as readonly TopologyPart[];
const all = (size: TopologySize): readonly Partial<StreamConfig>[] =>
  PARTS.flatMap((part) => streamConfigs(part, size));

describe('the table of streams', () => {
  test('is as reviewed', async () => {
    const reviewed = await readFile(new URL('golden/streams.json', import.meta.url), 'utf8');
    // One stream of each family stands for its shards.
    const first = (part: TopologyPart): readonly Partial<StreamConfig>[] =>
      streamConfigs(part, SIZE).filter(({ name }) => !/_([1-9]|1\d)$/.test(name));
    expect(Object.fromEntries(PARTS.map((part) => [part, first(part)]))).toEqual(JSON.parse(reviewed));
  });

  test('never reserves more than was given', () => {
    const shares = PARTS.flatMap((part) => Object.values(STORAGE_SHARES[part]));
    expect(sum(shares)).toBeLessThanOrEqual(1);
    const reserved = (wanted: string): number =>
      sum(
        all(SIZE)
          .filter(({ storage }) => storage === wanted)
          .map((config) => config.max_bytes ?? Number.POSITIVE_INFINITY),
      );
    expect(reserved('file')).toBeLessThanOrEqual(SIZE.storageBytes);
    expect(reserved('memory')).toBeLessThanOrEqual(SIZE.memoryBytes);
  });

  test('a log keeps each message until it is purged, and lets nobody else decide what goes', () => {
    for (const config of streamConfigs('jobs', SIZE).filter(({ name }) => name.startsWith('LOG_'))) {
      expect(config).toMatchObject({ storage: 'file', discard: 'new', allow_direct: true });
      expect(config).not.toHaveProperty('allow_msg_ttl');
      expect(config).not.toHaveProperty('allow_rollup_hdrs');
      expect(config).not.toHaveProperty('max_age');
      expect(config).not.toHaveProperty('max_msgs_per_subject');
    }
  });

  test('three brokers replicate everything', () => {
    for (const config of all(THREE)) expect(config.num_replicas).toBe(3);
  });

  test('everything is synced, and only the cursors of readers may be lost', () => {
    for (const config of all(SIZE)) expect(config).not.toHaveProperty('persist_mode');
    const dropping = all(SIZE).filter(({ discard, storage }) => discard !== 'new' || storage !== 'file');
    expect(new Set(dropping.map(({ name }) => name?.split('_')[0]))).toEqual(new Set(['CURSOR']));
  });
});

describe('drift', () => {
  const wanted = { name: 'S', storage: 'file', max_bytes: 10, republish: { src: 'a', dest: 'b' } } as const;

  test('what the operator or the broker added is none', () => {
    const present = { ...wanted, description: 'x', republish: { src: 'a', dest: 'b', headers_only: false } };
    expect(driftOf(present, wanted)).toEqual({ fixed: [], changeable: [] });
  });

  test('says what can be changed and what cannot', () => {
    expect(driftOf({ ...wanted, max_bytes: 5, storage: 'memory' }, wanted)).toEqual({
      fixed: ['storage'],
      changeable: ['max_bytes'],
    });
  });

  test('a stream made unsynced cannot become synced', () => {
    expect(driftOf({ ...wanted, persist_mode: 'async' }, wanted).fixed).toEqual(['persist_mode']);
    expect(driftOf(wanted, { ...wanted, persist_mode: 'async' }).fixed).toEqual(['persist_mode']);
  });

  test('lists are compared whole', () => {
    const sources = { ...wanted, sources: [{ name: 'A' }, { name: 'B' }] };
    expect(driftOf({ ...wanted, sources: [{ name: 'A' }] }, sources).changeable).toEqual(['sources']);
    expect(driftOf(sources, sources).changeable).toEqual([]);
  });
});
