import { expect, test } from '@jest/globals';
import { readReport } from './read-host-request.js';

const INVENTORY = {
  vcpus: 8,
  isOvercommitted: false,
  memoryBytes: 1,
  diskBytes: 1,
  gpus: [],
  areGpusSimulated: false,
  cudaVersion: null,
  runtime: 'process',
  images: ['local/echo'],
};
const FRAME = { secret: 's', instanceId: 'i', sequence: 1 };

test('members that nobody knows are not walked, at any depth', () => {
  const walked: string[] = [];
  const trap = (): object =>
    new Proxy({}, { ownKeys: () => (walked.push('walked'), []), get: () => void walked.push('read') });
  const worker = { workerId: 'w', unknown: trap() };
  readReport({ ...FRAME, inventory: { ...INVENTORY, unknown: trap() }, workers: [worker], unknown: trap() });
  expect(walked).toEqual([]);
});

test('image names are cleaned, bounded, and judged one by one', () => {
  const images = [...Array.from({ length: 9_998 }, () => ''), 7, 'a\0b', 'beyond', 'beyond'];
  const reading = readReport({ ...FRAME, inventory: { ...INVENTORY, images }, workers: [] });
  if (reading.kind === 'unreadable') throw new Error(reading.reason);
  const { dropped, inventory } = reading.value;
  expect(inventory?.images).toHaveLength(9_999);
  expect(inventory?.images.at(-1)).toBe('a b');
  expect(dropped).toMatchObject({ count: 3 });
});

test.each([
  ['0.2.0-rc.1+build7', '0.2.0-rc.1+build7'],
  ['', undefined],
  ['1'.repeat(65), undefined],
  ['0.1.0\u001b[31m', undefined],
  [7, undefined],
])('the version %j of an agent is %j, and the rest of its inventory stands', (agentVersion, read) => {
  const reading = readReport({ ...FRAME, inventory: { ...INVENTORY, agentVersion }, workers: [] });
  if (reading.kind === 'unreadable') throw new Error(reading.reason);
  expect(reading.value.inventory).toEqual({ ...INVENTORY, ...(read !== undefined && { agentVersion: read }) });
  expect(reading.value.dropped?.count ?? 0).toBe(read === undefined ? 1 : 0);
});

test('a card that a host names twice is one card', () => {
  const card = (index: number, uuid?: string) => ({
    index,
    typeId: 'T',
    memoryBytes: 1,
    ...(uuid === undefined ? {} : { uuid }),
  });
  const gpus = [card(0, 'GPU-a'), card(1, 'GPU-a'), card(0, 'GPU-b'), card(2), card(3), card(3)];
  const reading = readReport({ ...FRAME, inventory: { ...INVENTORY, gpus }, workers: [] });
  if (reading.kind === 'unreadable') throw new Error(reading.reason);
  expect(reading.value.inventory?.gpus.map(({ index }) => index)).toEqual([0, 2, 3]);
  expect(reading.value.dropped).toMatchObject({ count: 3, examples: [{ member: 'inventory.gpus' }, {}, {}] });
});

test('what a host says of an end on our clock is not taken over', () => {
  const worker = {
    workerId: 'w',
    endpointId: 'e',
    release: 1,
    phase: 'idle',
    reason: 'ready',
    runningJobs: 0,
    failedStarts: 0,
    phaseSinceMs: 1,
    idleSinceMs: 1,
  };
  const reading = readReport({ ...FRAME, inventory: INVENTORY, workers: [worker] });
  if (reading.kind === 'unreadable') throw new Error(reading.reason);
  expect(reading.value.dropped).toBeNull();
  expect(reading.value.workers).toHaveLength(1);
  expect(reading.value.workers[0]).not.toHaveProperty('idleSinceMs');
});

test.each([
  ['ports', { port: 8080, healthPort: 80 }, 1],
  ['no ports', {}, 1],
  ['a port that is none', { port: 65_536, healthPort: 80 }, 0],
  ['a port in words', { port: 8080, healthPort: '80' }, 0],
])('a worker with %s is read, or left out', (_, ports, count) => {
  const worker = { workerId: 'w', endpointId: 'e', release: 1, phase: 'idle', reason: '', runningJobs: 0 };
  const workers = [{ ...worker, failedStarts: 0, phaseSinceMs: 0, startedAtMs: null, gpuTypeId: null, ...ports }];
  const reading = readReport({ ...FRAME, inventory: INVENTORY, workers });
  if (reading.kind === 'unreadable') throw new Error(reading.reason);
  expect(reading.value.workers).toHaveLength(count);
  expect(reading.value.workers).toMatchObject(count === 0 ? [] : [ports]);
});
