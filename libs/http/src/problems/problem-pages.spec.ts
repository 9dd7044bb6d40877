import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { PROBLEMS, type ProblemType } from './problem-types.js';

const PAGES = new URL('../../../../docs/problems/', import.meta.url);

test('every problem has a page, and every page a problem', async () => {
  const pages = (await readdir(PAGES)).filter((name) => name.endsWith('.md')).map((name) => name.replace('.md', ''));
  expect(pages.sort()).toEqual(Object.keys(PROBLEMS).sort());
});

test.each<[string, ProblemType]>(Object.entries(PROBLEMS))(
  'the page of %s has its title and status, says what happened and how to fix it',
  async (code, { status, title }) => {
    const page = await readFile(new URL(`${code}.md`, PAGES), 'utf8');
    expect(page.startsWith(`# ${title}\n\n\`${code}\`, HTTP ${status}\n\n## What happened\n`)).toBe(true);
    expect(page).toMatch(/\n## How to fix it\n\n- /);
  },
);
