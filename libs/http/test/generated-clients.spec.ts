import { expect, test } from '@jest/globals';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const WIRE = new URL('../../../docs/wire/', import.meta.url);
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  types: [],
};

test.each(['openapi.json', 'job-openapi.json'])(
  '%s gives types that compile',
  async (name) => {
    const text = astToString(await openapiTS(new URL(name, WIRE)));
    expect(text).toMatch(/export interface paths/);
    expect(compilerErrors(text)).toEqual([]);
  },
  120_000,
);

function compilerErrors(text: string): readonly string[] {
  const host = ts.createCompilerHost(OPTIONS);
  const made = ts.createSourceFile('types.ts', text, ts.ScriptTarget.ES2022, true);
  const program = ts.createProgram(['types.ts'], OPTIONS, {
    ...host,
    getSourceFile: (file, ...more) => (file === 'types.ts' ? made : host.getSourceFile(file, ...more)),
    fileExists: (file) => file === 'types.ts' || host.fileExists(file),
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
