/**
 * Lays one app out as its image has it, from a repository that is installed and built: the app, the libraries and the
 * packages that it needs, and of each only what runs.
 *
 *   node pack-app.mjs REPOSITORY APP DESTINATION SBOM
 *
 * Writes the list of what it took to the file SBOM.
 */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { renderSbom } from './sbom.mjs';

const [repository, app, destination, sbom] = process.argv.slice(2);
const root = realpathSync(repository);
/** Declarations, maps of others' sources, and pages for readers; licences stay. */
const UNUSED = /\.d\.[cm]?ts$|\.map$|^(?:readme|changelog|history)(?:\.md)?$/i;

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Where Node finds a package that one in `folder` asks for. */
function find(name, folder) {
  for (let at = folder; at.startsWith(root); at = dirname(at)) {
    const path = join(at, 'node_modules', name);
    if (existsSync(path)) return path;
  }
  return undefined;
}

/** For compilers alone. */
const isForTypes = (name) => name === 'typescript' || name.startsWith('@types/');

/** Of the runtime Bare, which some packages can run on besides: Node.js loads none of it. */
const isForBare = (name) => name.startsWith('bare-');

/** Peers that a package says it can do without are taken where they are: some say so of what they load. */
function askedFor({ dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const isOptional = (name) => name in optionalDependencies || peerDependenciesMeta[name]?.optional === true;
  const all = Object.keys({ ...peerDependencies, ...optionalDependencies, ...dependencies });
  const run = all.filter((name) => !isForTypes(name) && !isForBare(name));
  // An optional one may be another platform's.
  return { mustHave: run.filter((name) => !isOptional(name)), mayHave: run.filter(isOptional) };
}

/** Paths of all that is needed, links to libraries among them. */
function needed() {
  const found = new Set([join(root, 'apps', app)]);
  for (const path of found) {
    const folder = realpathSync(path);
    if (folder !== path) found.add(folder);
    const { mayHave, mustHave } = askedFor(readJson(join(folder, 'package.json')));
    for (const name of [...mustHave, ...mayHave]) {
      const dependency = find(name, folder);
      if (dependency !== undefined) found.add(dependency);
      else if (mustHave.includes(name)) throw new Error(`${folder} needs ${name}.`);
    }
  }
  return found;
}

const isOurs = (path) => !relative(root, path).split('/').includes('node_modules');

function copy(path) {
  const target = join(destination, relative(root, path));
  mkdirSync(dirname(target), { recursive: true });
  if (lstatSync(path).isSymbolicLink()) symlinkSync(relative(dirname(path), realpathSync(path)), target);
  else if (isOurs(path)) {
    mkdirSync(target, { recursive: true });
    for (const part of ['package.json', 'dist']) cpSync(join(path, part), join(target, part), { recursive: true });
  } else {
    // What lies within is another package, which is taken for itself or not at all.
    const isTaken = (from) => basename(from) !== 'node_modules' && !UNUSED.test(basename(from));
    cpSync(path, target, { recursive: true, filter: isTaken });
  }
}

const { packages: locked } = readJson(join(root, 'package-lock.json'));
const taken = [...needed()];
for (const path of taken) copy(path);
symlinkSync(join('apps', app), join(destination, 'app'));

const others = taken.filter((path) => !isOurs(realpathSync(path)));
const described = others.map((path) => ({
  described: readJson(join(path, 'package.json')),
  integrity: locked[relative(root, path)]?.integrity,
}));
const missing = described.filter(({ integrity }) => integrity === undefined).map(({ described: { name } }) => name);
if (missing.length > 0) throw new Error(`The lock file does not know ${missing.join(', ')}.`);
mkdirSync(dirname(sbom), { recursive: true });
writeFileSync(
  sbom,
  JSON.stringify(renderSbom(readJson(join(root, 'apps', app, 'package.json')), described), undefined, 2),
);
