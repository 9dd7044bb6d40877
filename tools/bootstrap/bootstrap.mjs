/**
 * Brings a clone to the state in which Berth can start or be tested: packages installed, everything built. It runs before
 * `npm start` and `npm test`, on the machine's own Node, with nothing installed yet: hence plain JavaScript and no packages.
 *
 * This file must be read by every Node that reads modules at all, so that one that is too old is told so: no `node:`
 * imports, no top-level `await`, nothing of `import.meta` but its `url`. What follows may be as new as `engines` allows.
 */
import { readFileSync } from 'fs';
import { whyTooOld } from './node-version.mjs';

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const complaint = whyTooOld(process.version, engines.node);

if (complaint === null) {
  import('./prepare.mjs');
} else {
  console.error(`bootstrap: ${complaint}`);
  process.exitCode = 1;
}
