import { types } from 'node:util';

/** Member names whose values never reach a log, compared without case and punctuation. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'accesssecret',
  'apikey',
  'authorization',
  'cookie',
  'credentials',
  'env',
  'hash',
  'password',
  'registrycredentials',
  's3config',
  'secret',
  'secrethash',
  'seed',
  'token',
]);

const REDACTED = '[redacted]';

const DEPTH_MAX = 6;
const ITEMS_MAX = 100;

/** `://user:password@` of any address inside a text. */
const CREDENTIALS_IN_URL = /(:\/\/[^:/@\s]*):[^@/\s]+@/g;

export const redactText = (text: string): string => text.replace(CREDENTIALS_IN_URL, `$1:${REDACTED}@`);

const isSecret = (name: string): boolean => SECRET_NAMES.has(name.toLowerCase().replace(/[-_]/g, ''));

/**
 * A copy that is safe to log: secret members are replaced by name at every depth, passwords inside addresses too, and
 * what is nested deeper than any log line is worth is cut.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'object' && value !== null ? redactObject(value, depth) : value;
}

function redactObject(value: object, depth: number): unknown {
  if (value instanceof Error || types.isNativeError(value)) return redactError(value, depth);
  if (value instanceof Date) return value.toJSON();
  if (depth >= DEPTH_MAX) return '[…]';
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => redact(item, depth + 1));
  return redactMembers(value, depth);
}

function redactMembers(value: object, depth: number): Record<string, unknown> {
  const members = Object.entries(value).map(([name, member]) => [
    name,
    isSecret(name) && member !== null && member !== undefined ? REDACTED : redact(member, depth + 1),
  ]);
  return Object.fromEntries(members) as Record<string, unknown>;
}

/** Messages and stacks of drivers may quote the address that they failed to reach. */
function redactError(error: Error, depth: number): Record<string, unknown> {
  const shown: Record<string, unknown> = { type: error.name, message: redactText(error.message) };
  if (error.stack !== undefined) shown['stack'] = redactText(error.stack);
  if ('code' in error) shown['code'] = redact(error.code, depth + 1);
  if (error.cause !== undefined && depth < DEPTH_MAX) shown['cause'] = redact(error.cause, depth + 1);
  return shown;
}
