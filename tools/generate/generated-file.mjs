/**
 * What is generated is checked in, so that a review sees what a change does to it. With `--check` nothing is written: a file
 * that differs is named, with the command that writes it, and the exit status is 1.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: asked } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

/**
 * @param {URL} file
 * @param {string} text what the code says that the file should be
 * @param {string} command writes it
 */
export async function keepGenerated(file, text, command) {
  if (!asked.check) {
    await mkdir(new URL('.', file), { recursive: true });
    await writeFile(file, text);
    return;
  }
  const name = relative(process.cwd(), fileURLToPath(file));
  if ((await readFile(file, 'utf8')) === text) {
    console.log(`${name} is as the code has it.`);
    return;
  }
  console.error(`${name} is not as the code has it: run \`${command}\` and look at what has changed.`);
  process.exitCode = 1;
}
