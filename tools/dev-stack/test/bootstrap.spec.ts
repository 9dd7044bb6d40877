import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SourceTextModule, SyntheticModule, createContext, type Module } from 'node:vm';
import { expect, test } from '@jest/globals';

const BOOTSTRAP = resolve(import.meta.dirname, '../../bootstrap/bootstrap.mjs');
const FILES = { readFileSync };

/** Runs the entry as a Node that says it is `version` and whose modules know no more of themselves than their address. */
async function runAs(version: string): Promise<{ readonly said: readonly string[]; readonly exitCode: unknown }> {
  const said: string[] = [];
  const machine = { version, versions: { node: version.slice(1) }, exitCode: undefined, env: {}, platform: 'linux' };
  const context = createContext({ URL, process: machine, console: { error: (line: string) => said.push(line) } });
  const load = (path: string): SourceTextModule =>
    new SourceTextModule(readFileSync(path, 'utf8'), {
      context,
      identifier: path,
      initializeImportMeta: (meta) => {
        meta.url = pathToFileURL(path).href;
      },
      importModuleDynamically: () => Promise.reject(new Error('it went on')),
    });
  const link = (specifier: string, { identifier }: Module): Module =>
    specifier.startsWith('.') ? load(resolve(identifier, '..', specifier)) : builtIn(specifier);
  const builtIn = (specifier: string): Module => {
    if (specifier !== 'fs') throw new Error(`${specifier} is not in every Node`);
    return new SyntheticModule(
      Object.keys(FILES),
      function () {
        for (const [name, value] of Object.entries(FILES)) this.setExport(name, value);
      },
      { context },
    );
  };
  const entry = load(BOOTSTRAP);
  await entry.link(link);
  await entry.evaluate();
  return { said, exitCode: machine.exitCode };
}

test.each(['v14.21.3', 'v18.20.8', 'v20.10.0'])(
  'a Node that is too old (%s) is told which one is needed',
  async (version) => {
    const { said, exitCode } = await runAs(version);
    expect(said).toEqual([
      `bootstrap: Node.js 20.11 or newer is needed to begin; this is ${version}. Install a newer one and try again.`,
    ]);
    expect(exitCode).toBe(1);
  },
);
