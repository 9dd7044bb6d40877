import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { QUEUE_REASONS } from '@berth/domain';
import { expect, test } from '@jest/globals';

test('the glossary explains every reason why a job waits, in the order of their list', () => {
  const glossary = readFileSync(resolve(import.meta.dirname, '../../../../docs/glossary.md'), 'utf8');
  const section = glossary.slice(glossary.indexOf('## Why a job waits'));
  const words = [...section.matchAll(/^\| `([a-z-]+)`/gm)].map(([, word]) => word);
  expect(words).toEqual(QUEUE_REASONS);
});
