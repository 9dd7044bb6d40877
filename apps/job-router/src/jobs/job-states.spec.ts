import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { JOB_STATES, JOB_TRANSITIONS } from '@berth/domain';
import { expect, test } from '@jest/globals';

test('the documents draw the states of a job as the table has them', () => {
  const document = readFileSync(resolve(import.meta.dirname, '../../../../docs/architecture.md'), 'utf8');
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n(.*?)```/su.exec(document) ?? [];
  const drawn = [...diagram.matchAll(/^ {2}(\w+) --> (\w+):/gmu)].map(([, from, to]) => `${from} ${to}`);
  const moves = JOB_STATES.flatMap((from) => JOB_TRANSITIONS[from].map((to) => `${from} ${to}`));
  expect(drawn.toSorted()).toEqual(moves.toSorted());
});
