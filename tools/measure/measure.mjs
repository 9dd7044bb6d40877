/**
 * Prints what can be counted in the code that ships, beside what it was at a commit:
 *
 *   npm run measure                 what it is now
 *   npm run measure -- COMMIT       what it was there, and what it is now
 *   npm run measure -- --names      besides, which names and files some of the counts are made of
 */
import { parseArgs } from 'node:util';
import { figuresOf, namesOf } from './figures.mjs';
import { sourcesAt, sourcesNow } from './sources.mjs';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { names: { type: 'boolean' } } });
const [revision] = positionals;
const sources = await sourcesNow();
const now = figuresOf(sources);
const before = revision === undefined ? new Map() : figuresOf(await sourcesAt(revision));
const wide = Math.max(...[...now.keys()].map((what) => what.length));
for (const [what, figure] of now) {
  const was = before.has(what) ? `${String(before.get(what)).padStart(24)}  →` : '';
  console.log(`${what.padEnd(wide)}${was}${String(figure).padStart(24)}`);
}
if (values.names === true) {
  for (const [what, names] of namesOf(sources)) console.log(`\n${what}:\n  ${names.join('\n  ')}`);
}
