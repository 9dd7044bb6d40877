/**
 * Prints what can be counted in the code that ships, beside what it was at a commit:
 *
 *   npm run measure                 what it is now
 *   npm run measure -- COMMIT       what it was there, and what it is now
 *   npm run measure -- --names      besides, which names and files some of the counts are made of
 *   npm run measure -- --check      nothing but a door's names that no other package takes; fails when there are any
 */
import { parseArgs } from 'node:util';
import { figuresOf, namesOf, untakenNames } from './figures.mjs';
import { sourcesAt, sourcesNow } from './sources.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' }, names: { type: 'boolean' } },
});
const sources = await sourcesNow();
if (values.check === true) check();
else await show();

function check() {
  const untaken = untakenNames(sources);
  for (const name of untaken)
    console.error(`${name} is exported, and no other package takes it: take it off the door.`);
  process.exitCode = untaken.length > 0 ? 1 : 0;
}

async function show() {
  const [revision] = positionals;
  const now = figuresOf(sources);
  const before = revision === undefined ? new Map() : figuresOf(await sourcesAt(revision));
  const wide = Math.max(...[...now.keys()].map((what) => what.length));
  for (const [what, figure] of now) {
    const was = before.has(what) ? `${String(before.get(what)).padStart(24)}  →` : '';
    console.log(`${what.padEnd(wide)}${was}${String(figure).padStart(24)}`);
  }
  if (values.names !== true) return;
  for (const [what, names] of namesOf(sources)) console.log(`\n${what}:\n  ${names.join('\n  ')}`);
}
