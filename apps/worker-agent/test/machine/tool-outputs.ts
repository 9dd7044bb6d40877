import { readFileSync } from 'node:fs';
import { GpuToolError, type AskTool } from '../../src/runtimes/machine/gpu-tool.js';

/** What a tool printed, from the folder beside this file. */
export const outputOf = (name: string): string => readFileSync(new URL(`outputs/${name}.txt`, import.meta.url), 'utf8');

/** An `nvidia-smi` that prints these files, by what it is asked; a file that is not named fails with its words. */
export const nvidiaSmi =
  ({ query, list, fails }: { readonly query: string; readonly list?: string; readonly fails?: string }): AskTool =>
  async ([question = '']) => {
    if (fails !== undefined) throw new GpuToolError(outputOf(fails).trim(), outputOf(fails));
    if (question === '') return outputOf('header');
    if (question === '-L') return outputOf(list ?? 'none');
    return outputOf(query);
  };
