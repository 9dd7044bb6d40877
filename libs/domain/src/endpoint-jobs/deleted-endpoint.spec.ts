import { expect, test } from '@jest/globals';
import { Scene } from '../../test/endpoint-jobs/scene.js';

test('a deleted endpoint is read from its last batch alone, whoever has opened it since', () => {
  const scene = new Scene();
  scene.submit();
  scene.ask({ kind: 'delete' });
  scene.ask({ kind: 'open', routerId: 'r2' });
  scene.ask({ kind: 'open', routerId: 'r3' });
  const { term } = scene.state;

  scene.log.batches = scene.log.batches.slice(-1);

  expect(scene.log.replay()).toMatchObject({ isDeleted: true, isWhole: true, term });
});
