import type { ClusterApi } from '@berth/cluster-api';
import { expect, test } from '@jest/globals';
import { ClusterPlaceholders } from './cluster-placeholders.js';

interface Pod {
  readonly deletionTimestamp?: string;
  readonly nodeName?: string;
  readonly phase?: string;
}

function listed(pods: readonly Pod[]) {
  const items = pods.map(({ deletionTimestamp, nodeName, phase }, index) => ({
    metadata: { name: `p${String(index)}`, annotations: { 'berth.wants': '[1]' }, deletionTimestamp },
    spec: { nodeName },
    status: { phase },
  }));
  const api = { ask: () => Promise.resolve({ items }) } as unknown as Pick<ClusterApi, 'ask'>;
  const place = { nodeSelector: {}, tolerations: [] };
  return new ClusterPlaceholders({ api, around: { namespace: 'w', image: 'i', priorityClass: null, place } }).list();
}

test('placeholders are told with whether a node has them, and whether they still stand for anything', async () => {
  const found = await listed([
    { phase: 'Pending' },
    { phase: 'Running', nodeName: 'n1' },
    { phase: 'Failed', nodeName: 'n1' },
    { phase: 'Succeeded', nodeName: 'n1' },
  ]);
  expect(found.map(({ isOver, isScheduled }) => ({ isOver, isScheduled }))).toEqual([
    { isOver: false, isScheduled: false },
    { isOver: false, isScheduled: true },
    { isOver: true, isScheduled: true },
    { isOver: true, isScheduled: true },
  ]);
});

test('of one that is going nothing is told', async () => {
  expect(await listed([{ phase: 'Running', deletionTimestamp: '2026-01-01T00:00:00Z' }])).toEqual([]);
});
