import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CompilerOptions } from 'typescript';

/** Below the repository, where `openapi-fetch` is found. */
const FOLDER = fileURLToPath(new URL('../../../../.cache/', import.meta.url));

/** Taken where they are used: each suite that names anything of this library would load a compiler with it. */
const loadCompiler = async () => (await import('typescript')).default;
const loadGenerator = () => import('openapi-typescript');

/**
 * Compiles a program that calls an interface as somebody would who has nothing but its document: with `openapi-fetch` and
 * the types `paths` of `./api.mjs`, which are made of it.
 *
 * @returns what the program exports
 * @throws Error with everything that the compiler says
 */
export async function outsideClient<Program>(document: URL, program: string): Promise<Program> {
  await mkdir(FOLDER, { recursive: true });
  const folder = await mkdtemp(join(FOLDER, 'outside-client-'));
  try {
    const file = join(folder, 'program.mts');
    await writeFile(join(folder, 'api.mts'), await typesOf(document));
    await writeFile(file, program);
    await compile(file);
    return (await import(pathToFileURL(join(folder, 'program.mjs')).href)) as Program;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function typesOf(document: URL): Promise<string> {
  const { astToString, default: openapiTS } = await loadGenerator();
  // By itself the generator asks callers for every member that has a default.
  return astToString(await openapiTS(document, { defaultNonNullable: false }));
}

async function compile(file: string): Promise<void> {
  const ts = await loadCompiler();
  // As strict as anybody has it.
  const options: CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmitOnError: true,
    // What packages declare is theirs; the types that are made of the document are compiled as sources.
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    types: [],
  };
  const program = ts.createProgram([file], options);
  const { diagnostics } = program.emit();
  const problems = new Set([...ts.getPreEmitDiagnostics(program), ...diagnostics]);
  if (problems.size === 0) return;
  throw new Error(
    [...problems].map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')).join('\n'),
  );
}
