import { expect, test } from '@jest/globals';
import { checkVolumePlaces, type VolumePlace } from './check-volume-places.js';
import { describeFailures } from './field-failure.js';

const volume = (id: string, dataCenterId: string): VolumePlace => ({ id, dataCenterId });

test.each<[string, { in: string[]; volumes: VolumePlace[]; expected: string[] }]>([
  ['no volumes', { in: ['EU-1'], volumes: [], expected: [] }],
  ['one volume, any data center', { in: [], volumes: [volume('a', 'EU-1')], expected: [] }],
  [
    'volumes of one of the data centers',
    { in: ['US-1', 'EU-1'], volumes: [volume('a', 'EU-1'), volume('b', 'EU-1')], expected: [] },
  ],
  [
    'volumes that lie apart',
    { in: [], volumes: [volume('a', 'EU-1'), volume('b', 'US-1'), volume('c', 'EU-1')], expected: [] },
  ],
  [
    'one of several volumes outside of the data centers',
    {
      in: ['EU-1'],
      volumes: [volume('a', 'EU-1'), volume('b', 'US-1')],
      expected: ["$.dataCenterIds: leaves out 'US-1', where network volumes lie; add it, or send an empty list"],
    },
  ],
  [
    'a volume outside of the data centers',
    {
      in: ['US-1'],
      volumes: [volume('a', 'EU-1')],
      expected: ["$.dataCenterIds: leaves out 'EU-1', where network volumes lie; add it, or send an empty list"],
    },
  ],
])('%s', (_, { expected, in: dataCenterIds, volumes }) => {
  expect(describeFailures(checkVolumePlaces(dataCenterIds, volumes))).toEqual(expected);
});
