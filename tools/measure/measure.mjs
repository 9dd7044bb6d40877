/**
 * Prints what can be counted in the code that ships, beside what it was at a commit:
 *
 *   npm run measure                 what it is now
 *   npm run measure -- COMMIT       what it was there, and what it is now
 *   npm run measure -- --names      besides, which names and files some of the counts are made of
 *   npm run measure -- --check      nothing but a door's names that no other package takes, and exported names that are
 *                                   declared twice; fails when there are any
 */
import { parseArgs } from 'node:util';
import { faultsOf, figuresOf, namesOf } from './figures.mjs';
import { sourcesAt, sourcesNow } from './sources.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' }, names: { type: 'boolean' } },
});
const sources = await sourcesNow();
if (values.check === true) check();
else await show();

function check() {
  checkTheCheck();
  const faults = faultsOf(sources);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

/** A check that finds nothing in this has stopped looking. */
function checkTheCheck() {
  const twin = { kind: 'shipped', text: 'export interface Twin {}' };
  const faults = faultsOf([
    { kind: 'shipped', path: 'libs/domain/src/index.ts', text: "export { untaken } from './untaken.js';" },
    { ...twin, path: 'libs/domain/src/one.ts' },
    { ...twin, path: 'apps/job-router/src/other.ts' },
  ]);
  if (faults.length !== 2) throw new Error('Names that break the rules are let through.');
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
