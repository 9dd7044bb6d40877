/**
 * Makes each program of a built package one file, in the place of its `dist/main.js` or `dist/*.main.js`, with every module
 * that it loads: reading three to five thousand of them is most of what a process does until it is ready (ADR 0087).
 *
 *   node bundle.mjs FOLDER
 *
 * What the package depends on is built before. The other files of `dist` stay as they are: a thread begins with one of them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const dist = resolve(process.argv[2] ?? '.', 'dist');
const programs = readdirSync(dist).filter((name) => /^(?:[\w-]+\.)?main\.js$/.test(name));

/**
 * Node reads a map whole as soon as an error is looked at, so it names places in our own sources only. A file of others gets
 * a map that knows nothing beyond its first character.
 */
const NO_PLACES = JSON.stringify({ version: 3, sources: [''], names: [], mappings: 'AAAA' });
const UNMAPPED = `\n//# sourceMappingURL=data:application/json,${encodeURIComponent(NO_PLACES)}`;

/** What a module looks for beside itself is where its own file is, not the program's. */
const keepPlaces = {
  name: 'places',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const place = JSON.stringify(relative(dist, path));
      const text = readFileSync(path, 'utf8')
        .replaceAll('import.meta.url', `berthPlaceOf(${place}).href`)
        .replaceAll('import.meta.dirname', `berthFolderOf(${place})`);
      // A module has it as its own, or is of the old kind and gets it from Node.
      const contents = /(?:const|let|var) __dirname\b/.test(text)
        ? text
        : text.replaceAll(/\b__dirname\b/g, `berthFolderOf(${place})`);
      return { contents: path.includes('/node_modules/') ? contents + UNMAPPED : contents };
    });
  },
};

/** Drivers and transports that a package offers, and nobody has installed: it is told so if it asks for one. */
const leaveOutMissing = {
  name: 'missing',
  setup: ({ onResolve, resolve: find }) => {
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...asked }) => {
      if (pluginData === leaveOutMissing) return undefined;
      const { errors } = await find(path, { ...asked, pluginData: leaveOutMissing });
      return errors.length > 0 ? { path, external: true } : undefined;
    });
  },
};

const PRELUDE = `
import { createRequire as berthCreateRequire } from 'node:module';
import { fileURLToPath as berthFileOf } from 'node:url';
const require = berthCreateRequire(import.meta.url);
const berthPlaceOf = (path) => new URL(path, import.meta.url);
const berthFolderOf = (path) => berthFileOf(new URL('.', berthPlaceOf(path))).slice(0, -1);
`;

const settings = {
  entryPoints: programs.map((name) => join(dist, name)),
  outdir: dist,
  allowOverwrite: true,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // What is built, not the sources that the compiler is pointed to.
  tsconfigRaw: '{}',
  // Of what a package offers, what Node itself would take.
  conditions: ['node'],
  mainFields: ['main'],
  // Tables, injected classes and errors are known by the names of their classes.
  keepNames: true,
  external: ['*.node'],
  banner: { js: PRELUDE },
  sourcemap: true,
  sourcesContent: false,
  plugins: [leaveOutMissing, keepPlaces],
  logLevel: 'warning',
};

if (programs.length > 0) await build(settings);
