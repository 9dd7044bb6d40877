import { describe, expect, test } from '@jest/globals';
import type { EndpointId, WorkerId } from '../ids.js';
import { fitReport, type HostNews } from './fit-report.js';
import type { ObservedWorker } from './worker.js';

const MAX_BYTES = 64 * 1024;

const newsOf = (workers: number, reason: string, images = 0): HostNews => ({
  inventory: {
    vcpus: 8,
    isOvercommitted: false,
    memoryBytes: 1,
    diskBytes: 1,
    gpus: [],
    areGpusSimulated: false,
    cudaVersion: null,
    runtime: 'docker',
    images: Array.from({ length: images }, (_, order) => `registry.example.com/team/image-${order}:latest`),
  },
  workers: Array.from({ length: workers }, (_, order): ObservedWorker => ({
    workerId: `w${order}` as WorkerId,
    endpointId: 'e' as EndpointId,
    release: 1,
    phase: 'unhealthy',
    reason,
    runningJobs: 0,
    failedStarts: 5,
    phaseSinceMs: 1,
    startedAtMs: null,
    gpuTypeId: null,
  })),
});
/** What is written here is ASCII, or two bytes a character. */
const bytesOf = (news: HostNews): number => encodeURIComponent(JSON.stringify(news)).replace(/%../g, 'x').length;

describe('a report of a host', () => {
  test('that is small enough stays as it is', () => {
    const news = newsOf(3, 'x'.repeat(2_000), 10);
    expect(fitReport(news, MAX_BYTES)).toBe(news);
  });

  test('in which every worker has much to say shortens what they say', () => {
    const fitted = fitReport(newsOf(100, 'ü'.repeat(2_000), 10), MAX_BYTES);
    expect(bytesOf(fitted)).toBeLessThanOrEqual(MAX_BYTES);
    expect(fitted.workers[0]?.reason).toHaveLength(120);
    expect(fitted.inventory.images).toHaveLength(10);
  });

  test('with very many images leaves those out before the reasons', () => {
    const fitted = fitReport(newsOf(100, 'broken', 10_000), MAX_BYTES);
    expect(bytesOf(fitted)).toBeLessThanOrEqual(MAX_BYTES);
    expect(fitted.inventory.images).toEqual([]);
    expect(fitted.workers[0]?.reason).toBe('broken');
  });

  test('names every worker, whatever is left out', () => {
    const fitted = fitReport(newsOf(300, 'x'.repeat(100)), MAX_BYTES);
    expect(bytesOf(fitted)).toBeLessThanOrEqual(MAX_BYTES);
    expect(fitted.workers).toHaveLength(300);
    expect(fitted.workers[0]).toMatchObject({ workerId: 'w0', phase: 'unhealthy', reason: '' });
  });
});
