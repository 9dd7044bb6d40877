/** One entry as pino writes it, before it becomes a line for people. */
export type PinoEntry = Readonly<Record<string, unknown>>;

/** Members that have their own place in the line, or no value for a reader. */
const PLACED: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'error', 'traceId']);

const LEVEL_NAMES: Readonly<Record<string, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};
const LEVEL_COLORS: Readonly<Record<string, string>> = { 20: '90', 30: '32', 40: '33', 50: '31', 60: '41' };

const plain = (text: string): string => text;

/** A terminal obeys these, or shows something else than there is: text of workers, images and registries comes here, too. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const ESCAPE_DIGITS = 4;

/** Nothing is lost by it, and nobody can write a line that looks like another one. */
const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(ESCAPE_DIGITS, '0')}`);

/** `08:04:17.123 INFO  job-router  Took a job  jobId=… attempt=1`, and the stack below where there is an error. */
export function formatLine(entry: PinoEntry, isColored: boolean): string {
  const level = String(entry['level']);
  const paint = isColored ? (text: string) => `\u001B[${LEVEL_COLORS[level] ?? '0'}m${text}\u001B[0m` : plain;
  const dim = isColored ? (text: string) => `\u001B[2m${text}\u001B[0m` : plain;
  const time = typeof entry['time'] === 'number' ? new Date(entry['time']).toISOString().slice(11, 23) : '';
  const fields = Object.entries(entry).filter(([name]) => !PLACED.has(name));
  const parts = [
    `${dim(time)} ${paint((LEVEL_NAMES[level] ?? level).padEnd(5))} ${scalar(entry['name'])}`,
    scalar(entry['msg']),
    dim(fields.map(([name, value]) => `${printable(name)}=${scalar(value)}`).join(' ')),
  ];
  return `${parts.filter((part) => part !== '' && part !== dim('')).join('  ')}\n${errorLines(entry['error'])}`;
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return printable(value);
  if (value === undefined) return '';
  return printable(JSON.stringify(value));
}

function errorLines(error: unknown): string {
  if (typeof error !== 'object' || error === null)
    return error === undefined ? '' : indent(typeof error === 'string' ? error : JSON.stringify(error));
  const stack = 'stack' in error && typeof error.stack === 'string' ? error.stack : JSON.stringify(error);
  const cause = 'cause' in error ? errorLines(error.cause).replace(/^ {4}/, '    caused by ') : '';
  return `${indent(stack)}${cause}`;
}

/** Line by line: what a stack says is one below the other. */
const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `    ${printable(line)}\n`)
    .join('');
