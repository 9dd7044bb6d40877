import { readFile } from 'node:fs/promises';

/** The shell commands of a page: what its reader copies. */
export class PageCommands {
  readonly #page: string;

  private constructor(page: string) {
    this.#page = page;
  }

  static async read(path: string): Promise<PageCommands> {
    return new PageCommands(await readFile(path, 'utf8'));
  }

  /** All commands below a heading of the second level. */
  below(heading: string): string {
    const [, section] = this.#page.split(`\n## ${heading}\n`);
    if (section === undefined) throw new Error(`The page has no heading ${heading}.`);
    const [own = ''] = section.split(/\n## /);
    const blocks = [...own.matchAll(/```sh\n([^]*?)```/g)].map(([, commands = '']) => commands);
    if (blocks.length === 0) throw new Error(`There are no commands below ${heading}.`);
    return blocks.join('');
  }
}

/** A script's commands one by one: a line that ends in a backslash, or within quotes, goes on in the next. */
export function commandsOf(script: string): readonly string[] {
  const commands: string[] = [];
  let command = '';
  for (const line of script.split('\n')) {
    command += command === '' ? line : `\n${line}`;
    const isWhole = !line.endsWith('\\') && [...command].filter((letter) => letter === "'").length % 2 === 0;
    if (!isWhole) continue;
    if (command.trim() !== '') commands.push(command);
    command = '';
  }
  return commands;
}
