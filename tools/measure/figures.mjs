import { dirname } from 'node:path/posix';
import ts from 'typescript';

/** Repeats shorter than this are chance: a list of imports, the head of a class. */
const REPEATED_LINES_MIN = 10;
const FILES_IN_A_FOLDER_MAX = 15;
const AT_A_ROOT = /^(main|[a-z-]+\.main|compose|config|index|[a-z-]+-thread)\.ts$/;

/**
 * What can be counted in a tree, each under the words that stand in the table.
 *
 * @param {readonly import('./sources.mjs').Source[]} sources
 * @returns {ReadonlyMap<string, string | number>}
 */
export function figuresOf(sources) {
  const all = sources.map(parsed);
  const shipped = all.filter(({ kind }) => kind === 'shipped');
  const tests = all.filter(({ kind }) => kind === 'test');
  const lines = sum(shipped.map(({ codeLines }) => codeLines));
  const comments = sum(shipped.map(({ commentLines }) => commentLines));
  const functions = shipped.flatMap(({ functionLines }) => functionLines);
  return new Map([
    ['files', shipped.length],
    ['lines of code', lines],
    ['lines of tests for each line of code', (sum(tests.map(({ codeLines }) => codeLines)) / lines).toFixed(2)],
    ['comments, of all lines', `${((comments / (lines + comments)) * 100).toFixed(1)} %`],
    ['lines of a file, p50 / p90 / most', spread(shipped.map(({ codeLines }) => codeLines))],
    ['lines of a function, p50 / p90 / p99 / most', spread(functions, [0.5, 0.9, 0.99])],
    ['parameters of a constructor, p50 / p90 / most', spread(shipped.flatMap(({ parameters }) => parameters))],
    ['names declared and exported twice', doubleNames(shipped).length],
    ['names at a door that no other package takes', untaken(all).length],
    [`repeats of ${REPEATED_LINES_MIN} lines or more`, repeats(shipped)],
    [`folders with more than ${FILES_IN_A_FOLDER_MAX} files`, fullFolders(shipped).length],
    ['files at the root of an app that are no entry, compose or config', strayFiles(shipped).length],
  ]);
}

/** The names behind the counts, for who wants to mend them. */
export function namesOf(sources) {
  const all = sources.map(parsed);
  const shipped = all.filter(({ kind }) => kind === 'shipped');
  return new Map([
    ['declared and exported twice', doubleNames(shipped)],
    ['at a door, taken by no other package', untaken(all)],
    ['full folders', fullFolders(shipped)],
    ['strays at the root of an app', strayFiles(shipped)],
  ]);
}

/**
 * One sentence for each name that breaks a rule: a door hands out only what another package takes, and an exported name
 * is declared once.
 */
export function faultsOf(sources) {
  const all = sources.map(parsed);
  return [
    ...untaken(all).map((name) => `${name} is exported, and no other package takes it: take it off the door.`),
    ...doubleNames(all.filter(({ kind }) => kind === 'shipped')).map(
      (name) =>
        `${name} is declared and exported in more than one file: one of them needs a name that says which it is.`,
    ),
  ];
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

function spread(numbers, quantiles = [0.5, 0.9]) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (quantile) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))] ?? 0;
  return [...quantiles.map(at), sorted.at(-1) ?? 0].join(' / ');
}

function parsed({ kind, path, text }) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const code = linesWithCode(file, text);
  const written = text.split('\n').filter((line) => line.trim() !== '').length;
  const found = { functionLines: [], parameters: [], declared: new Set(), reexported: new Set(), taken: [] };
  const visit = (node) => {
    note(node, { code, file, found });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { kind, path, text, code, codeLines: code.size, commentLines: written - code.size, ...found };
}

/** The numbers of lines on which a token stands. */
function linesWithCode(file, text) {
  const lines = new Set();
  const visit = (node) => {
    if (node.getChildCount(file) > 0) return void node.getChildren(file).forEach(visit);
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const from = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
    const to = file.getLineAndCharacterOfPosition(node.getEnd()).line;
    if (node.getEnd() > node.getStart(file)) for (let line = from; line <= to; line += 1) lines.add(line);
  };
  visit(file);
  return new Set([...lines].filter((line) => (text.split('\n', line + 1)[line] ?? '').trim() !== ''));
}

function note(node, { code, file, found }) {
  if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
    const from = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
    const to = file.getLineAndCharacterOfPosition(node.getEnd()).line;
    found.functionLines.push([...code].filter((line) => line >= from && line <= to).length);
  }
  if (ts.isConstructorDeclaration(node)) found.parameters.push(node.parameters.length);
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) noteModule(node, found);
  for (const name of declaredBy(node)) found.declared.add(name);
}

function noteModule(node, found) {
  const clause = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
  const names = clause !== undefined && 'elements' in clause ? clause.elements : [];
  const from = node.moduleSpecifier?.text ?? '';
  for (const { name, propertyName } of names) {
    if (ts.isExportDeclaration(node)) found.reexported.add(name.text);
    if (from.startsWith('@berth/')) found.taken.push(`${from} ${(propertyName ?? name).text}`);
  }
}

const DECLARATIONS = [
  ts.isFunctionDeclaration,
  ts.isClassDeclaration,
  ts.isInterfaceDeclaration,
  ts.isTypeAliasDeclaration,
  ts.isEnumDeclaration,
];

function declaredBy(node) {
  if (!ts.canHaveModifiers(node)) return [];
  if (!(ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name.getText());
  return DECLARATIONS.some((is) => is(node)) && node.name !== undefined ? [node.name.text] : [];
}

function doubleNames(shipped) {
  const seen = new Map();
  for (const name of shipped.flatMap(({ declared }) => [...declared])) seen.set(name, (seen.get(name) ?? 0) + 1);
  return [...seen]
    .filter(([, times]) => times > 1)
    .map(([name]) => name)
    .toSorted();
}

/** A door of a library, as it is imported: its own, or that of the room that is an entry beside it. */
const DOOR = /^libs\/([^/]+)\/src\/index\.ts$|^libs\/(contracts)\/src\/(http)\/index\.ts$/;

const entryOf = (path) => {
  const [, library, ...beside] = DOOR.exec(path) ?? [];
  return ['@berth', ...(library === undefined ? beside : [library])].join('/');
};

/** What a library's own door hands out, and nobody outside of it imports. */
function untaken(all) {
  const packageOf = (path) => path.split('/')[1];
  const taken = new Set(
    all.flatMap(({ path, taken: names }) => names.filter((name) => !name.startsWith(`@berth/${packageOf(path)} `))),
  );
  return all
    .filter(({ path }) => DOOR.test(path))
    .flatMap(({ path, reexported }) => [...reexported].map((name) => `${entryOf(path)} ${name}`))
    .filter((name) => !taken.has(name))
    .toSorted();
}

/** How many pairs of places have the same lines, imports aside. */
function repeats(shipped) {
  const places = new Map();
  for (const { path, text, code } of shipped) {
    const all = text.split('\n');
    const lines = [...code].toSorted((a, b) => a - b).map((line) => (all[line] ?? '').trim());
    const body = lines.filter((line) => !/^(import|export) .* from |^} from /.test(line));
    for (let at = 0; at + REPEATED_LINES_MIN <= body.length; at += 1) {
      const key = body.slice(at, at + REPEATED_LINES_MIN).join('\n');
      places.set(key, [...(places.get(key) ?? []), `${path} ${at}`]);
    }
  }
  const repeated = [...places.values()].filter((found) => found.length > 1);
  // A longer repeat counts once, where it begins: the lines before it differ.
  const known = new Set(repeated.map((found) => found.join()));
  const before = (place) => place.replace(/\d+$/, (at) => String(Number(at) - 1));
  return repeated.filter((found) => !known.has(found.map(before).join())).length;
}

function fullFolders(shipped) {
  const counts = new Map();
  for (const { path } of shipped) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > FILES_IN_A_FOLDER_MAX)
    .map(([folder, count]) => `${folder} (${count})`);
}

const strayFiles = (shipped) =>
  shipped
    .map(({ path }) => path)
    .filter((path) => /^apps\/[^/]+\/src\/[^/]+\.ts$/.test(path) && !AT_A_ROOT.test(path.split('/').at(-1) ?? ''));
