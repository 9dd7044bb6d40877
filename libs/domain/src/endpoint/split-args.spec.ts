import { describe, expect, test } from '@jest/globals';
import { splitArgs } from './split-args.js';

describe('splitArgs', () => {
  test.each<[string, readonly string[]]>([
    ['', []],
    ['   \t\n ', []],
    ['python3 -u handler.py', ['python3', '-u', 'handler.py']],
    ['  a\tb\nc\r\n', ['a', 'b', 'c']],
    [`--prompt 'two words'`, ['--prompt', 'two words']],
    [`--prompt="two words"`, ['--prompt=two words']],
    [`a''b ""`, ['ab', '']],
    [`'it'\\''s'`, [`it's`]],
    [`'\\n "$HOME"'`, ['\\n "$HOME"']],
    [`"\\"quoted\\" \\\\ \\$X \\\` \\n"`, ['"quoted" \\ $X ` \\n']],
    [`a\\ b \\'c`, ['a b', `'c`]],
    ['one\\\ntwo', ['onetwo']],
    ['a \\\n b', ['a', 'b']],
    ['"line\\\nbreak"', ['linebreak']],
    ['$HOME *.py ~ {a,b} `ls` a;b|c>d #e', ['$HOME', '*.py', '~', '{a,b}', '`ls`', 'a;b|c>d', '#e']],
    ['größe 🚀', ['größe', '🚀']],
  ])('%j', (text, words) => {
    expect(splitArgs(text)).toEqual({ kind: 'words', words });
  });

  test.each([
    [`say 'hello`, "the quote ' at character 5 is never closed"],
    ['say "hello', 'the quote " at character 5 is never closed'],
    ['say "hello\\"', 'the quote " at character 5 is never closed'],
    [`it's`, "the quote ' at character 3 is never closed"],
    ['a \\', 'nothing follows the backslash at character 3'],
  ])('%j is malformed', (text, detail) => {
    expect(splitArgs(text)).toEqual({ kind: 'malformed', detail });
  });
});
