/**
 * Proves that what pages say of the repository is so: every path that they name is there, every room has its row in the map,
 * every package a short README, and what they cite can be read.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { unreadable } from './citations.mjs';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const isOurs = (path) => !/(?:^|\/)(?:node_modules|dist)\//.test(path);
const find = (...patterns) =>
  patterns
    .flatMap((pattern) => globSync(pattern, { cwd: REPOSITORY, exclude: ['**/node_modules', '**/dist'] }))
    .filter(isOurs)
    .toSorted();
const textOf = (path) => readFileSync(join(REPOSITORY, path), 'utf8');

const MAP = 'docs/map.md';
const PAGES = ['*.md', 'docs/*.md', '{apps,libs,tools}/*/README.md'];
const ROOM_PAGES = ['{apps,libs,tools}/*/*/**/README.md'];
/** What a decision says was so on its day, and what names a file may be gone by now: only its citations are checked. */
const OTHER_PAGES = ['docs/*/*.md', 'deploy/**/*.md', 'examples/**/*.md'];
const ROOMS = ['apps/*/src/*/', 'libs/{contracts,domain,http,messaging}/src/*/'];
const PACKAGES = ['{apps,libs,tools}/*/package.json'];
const README_LINES_MAX = 15;

const NAMED = /`([^`]+)`|\]\(([^)\s]+)\)/g;
const FILE = /\.(?:[cm]?[jt]s|jsonc?|md|sh|sql)$/;
/** No request path, package name, address, placeholder or pattern. */
const PATH = /^(?!\/|@|[a-z]+:|#)[\w./@-]+$/;
const MEDIA_TYPE = /^(?:application|text)\//;
/** What is written when Berth runs, and what the reader names. */
const MADE = /^(?:\.berth\/|(?:broker|env|offline|tls)\/[\w.-]+$|dev\.json$|local\/|worker\.json$)/;
/** By page: names that stand for many files, and examples. */
const EXAMPLES = new Map([
  ['AGENTS.md', ['config.ts', 'index.ts']],
  ['CONTRIBUTING.md', ['template.md']],
  ['docs/api-decisions.md', ['PORT/http']],
  ['docs/settings.md', ['config.ts']],
  ['docs/wire-contract.md', ['RunPod-JS-SDK']],
  ['docs/write-a-worker.md', ['examples/workers/hello']],
]);

const isPath = (word) =>
  PATH.test(word) && (word.includes('/') || FILE.test(word)) && !MEDIA_TYPE.test(word) && !MADE.test(word);

/** The paths that one line names: links, and what looks like a path in backticks, also within a command. */
const pathsIn = (line) =>
  [...line.matchAll(NAMED)].flatMap(([, code, link]) =>
    link === undefined ? code.split(/\s+/).filter(isPath) : [link.replace(/#.*/, '')].filter((path) => PATH.test(path)),
  );

/** A path is read from the page's own folder, or from the root. */
const isThere = (page, path) =>
  EXAMPLES.get(page)?.includes(path) || [dirname(page), '.'].some((from) => existsSync(join(REPOSITORY, from, path)));

const files = find('{apps,libs,tools}/**').map((path) => `/${path}`);
/** A room's README may name a file by the end of its path. */
const isSomewhere = (page, path) => isThere(page, path) || files.some((file) => file.endsWith(`/${path}`));

/** One sentence for each path that is missing. */
const missingPaths = (page, text, isFound) =>
  text.split('\n').flatMap((line, at) =>
    pathsIn(line)
      .filter((path) => !isFound(page, path.replace(/\/$/, '')))
      .map((path) => `${page}, line ${at + 1}: ${path} is not in the repository.`),
  );

/** One sentence for each citation that leads nowhere. */
const missingCitations = (page, text) =>
  unreadable(text.replaceAll('\n', ' '), false).map(
    ({ cited, at }) => `${page}, line ${text.slice(0, at).split('\n').length}: ${cited} is not in docs/.`,
  );

/** A row links its room. */
const missingRows = (map, rooms) =>
  rooms.filter((room) => !map.includes(`](../${room})`)).map((room) => `${MAP}: ${room} has no row.`);

const linesOf = (text) => text.trimEnd().split('\n').length;

function readmeFault(folder) {
  const readme = `${folder}/README.md`;
  if (!existsSync(join(REPOSITORY, readme))) return [`${readme} is missing.`];
  const lines = linesOf(textOf(readme));
  return lines > README_LINES_MAX ? [`${readme} has ${lines} lines, of at most ${README_LINES_MAX}.`] : [];
}

/** A check that finds nothing in these has stopped looking. */
const FIXTURE = '`libs/none` and [a page](none.md#part)\n`npm run jest -- none.ts`, `/v2/run`, `@berth/domain`, `libs`';
if (missingPaths(MAP, FIXTURE, isThere).length !== 3) throw new Error('Missing paths are let through.');
if (missingPaths(MAP, '`fences/none.mjs`, `fences/paths.mjs`', isSomewhere).length !== 1) {
  throw new Error('Missing paths are let through in rooms.');
}
if (missingCitations(MAP, 'See API\ndecisions 1.1, 1.2 and 99.9, or (design, section 2).').length !== 3) {
  throw new Error('Missing citations are let through.');
}
if (missingRows('[a](../libs/a)', ['libs/a', 'libs/b']).length !== 1) throw new Error('Missing rows are let through.');

const checked = { pages: find(...PAGES), rooms: find(...ROOM_PAGES), others: find(...OTHER_PAGES) };
const folders = find(...PACKAGES).map((path) => dirname(path));
const rooms = find(...ROOMS).map((path) => path.replace(/\/$/, ''));
const faults = [
  ...checked.pages.flatMap((page) => missingPaths(page, textOf(page), isThere)),
  ...checked.rooms.flatMap((page) => missingPaths(page, textOf(page), isSomewhere)),
  ...Object.values(checked)
    .flat()
    .flatMap((page) => missingCitations(page, textOf(page))),
  ...missingRows(textOf(MAP), rooms),
  ...folders.flatMap(readmeFault),
];
for (const fault of faults) console.log(fault);
const pages = Object.values(checked).flat().length;
console.log(`${pages} pages, ${rooms.length} rooms, ${folders.length} packages: ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;
