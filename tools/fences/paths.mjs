/** Proves that every path which the map, the invariants or the README of a package names is in the repository. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const DOCUMENTS = ['docs/map.md', 'docs/invariants.md', '{apps,libs,tools}/*/README.md'];

const NAMED = /`([^`]+)`|\]\(([^)\s]+)\)/g;
const FILE = /\.(?:[cm]?[jt]s|jsonc?|md|sh|sql)$/;
/** No request path, package name, address, placeholder or pattern. */
const PATH = /^(?!\/|@|[a-z]+:|#)[\w./@-]+$/;

const isPath = (word) => PATH.test(word) && (word.includes('/') || FILE.test(word));

/** The paths that one line names: links, and what looks like a path in backticks, also within a command. */
const pathsIn = (line) =>
  [...line.matchAll(NAMED)].flatMap(([, code, link]) =>
    link === undefined ? code.split(/\s+/).filter(isPath) : [link.replace(/#.*/, '')].filter((path) => PATH.test(path)),
  );

/** A path is read from the document's own folder, or from the root. */
const isThere = (document, path) =>
  [dirname(document), '.'].some((folder) => existsSync(join(REPOSITORY, folder, path)));

/** One sentence for each path that is missing. */
const faultsOf = (document, text) =>
  text.split('\n').flatMap((line, at) =>
    pathsIn(line)
      .filter((path) => !isThere(document, path))
      .map((path) => `${document}, line ${at + 1}: ${path} is not in the repository.`),
  );

/** A check that finds nothing in this has stopped looking. */
const FIXTURE = '`libs/none` and [a page](none.md#part)\n`npm run jest -- none.ts`, `/v2/run`, `@berth/domain`, `libs`';
if (faultsOf('docs/map.md', FIXTURE).length !== 3) throw new Error('Missing paths are let through.');

const documents = DOCUMENTS.flatMap((pattern) => globSync(pattern, { cwd: REPOSITORY })).toSorted();
const faults = documents.flatMap((path) => faultsOf(path, readFileSync(join(REPOSITORY, path), 'utf8')));
for (const fault of faults) console.log(fault);
console.log(`${documents.length} documents, ${faults.length} paths missing`);
process.exitCode = faults.length > 0 ? 1 : 0;
