import { NATS_ROLES, type NatsPublicKeys } from './nats-keys.js';

/**
 * The text of a configuration with other keys, and nothing else changed: somebody may have changed the rest by hand.
 *
 * @param known what it may have now, each of them whole: a change that was cut off has left some servers with others
 * @returns null where it has none of these for a role, or for the issuer
 */
export function replaceNatsKeys(text: string, known: readonly NatsPublicKeys[], wanted: NatsPublicKeys): string | null {
  const issuer = known.map((keys) => keys.issuer).find((key) => text.includes(issuerLine(key)));
  if (issuer === undefined) return null;
  let changed = text.replace(issuerLine(issuer), () => issuerLine(wanted.issuer));
  for (const role of NATS_ROLES) {
    const before = [...new Set(known.flatMap(({ roles }) => roles[role]))];
    const next = replaceUsers(changed, before, wanted.roles[role]);
    if (next === null) return null;
    changed = replaceNames(next, before, wanted.roles[role]);
  }
  return changed;
}

/** Whether a configuration lets in each of these keys, and takes this issuer's word. Others may be let in besides. */
export const hasNatsKeys = (text: string, { issuer, roles }: NatsPublicKeys): boolean =>
  text.includes(issuerLine(issuer)) &&
  NATS_ROLES.every((role) => roles[role].every((key) => blockOf(text, key) !== null));

const issuerLine = (key: string): string => `issuer: ${key}\n`;

/** All users of a role have its permissions, so the first one is what the others are made of. */
function replaceUsers(text: string, before: readonly string[], wanted: readonly string[]): string | null {
  const first = before.map((key) => blockOf(text, key)).find((block) => block !== null);
  if (first === undefined) return null;
  const place = text.indexOf(first.text);
  let rest = text.replace(first.text, '');
  for (const key of before) rest = rest.replace(blockOf(rest, key)?.text ?? '', '');
  const made = wanted.map((key) => first.text.replace(first.key, key)).join('');
  return rest.slice(0, place) + made + rest.slice(place);
}

interface Block {
  readonly key: string;
  readonly text: string;
}

/** From the line that names the key to the brace that is as far in; null: there is none. */
function blockOf(text: string, key: string): Block | null {
  const named = text.indexOf(`{ nkey: ${key}, `);
  if (named === -1) return null;
  const begin = text.lastIndexOf('\n', named) + 1;
  const end = `\n${text.slice(begin, named)}} }\n`;
  const at = text.indexOf(end, named);
  return at === -1 ? null : { key, text: text.slice(begin, at + end.length) };
}

/** In the list of those about whom nobody is asked. */
function replaceNames(text: string, before: readonly string[], wanted: readonly string[]): string {
  return text.replace(/(?<=^ *auth_users: \[ ).*(?= \]$)/m, (list) => {
    const names = list.split(', ');
    const at = names.findIndex((name) => before.includes(name));
    const others = names.filter((name) => !before.includes(name));
    return others.toSpliced(at === -1 ? others.length : at, 0, ...wanted).join(', ');
  });
}
