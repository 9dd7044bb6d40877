import { readJson } from '@berth/contracts';
import { readShape, type Shape } from '@berth/domain/shape';
import type { ConfigReader } from '@berth/lifecycle';

interface JsonSetting {
  readonly name: string;
  /** For the operator, in Markdown. */
  readonly meaning: string;
  readonly shape: Shape;
}

/** What the cluster knows as an object, and a variable as its JSON. Null: nothing is set, or nothing that can be used. */
export function readJsonSetting<Value>(read: ConfigReader, { meaning, name, shape }: JsonSetting): Value | null {
  const words = read.optional(name, meaning);
  if (words === null) return null;
  const json = readJson(words);
  const reading = json.kind === 'unreadable' ? json : readShape<Value>(shape, json.value);
  if (reading.kind === 'value') return reading.value;
  read.problems.push(`${name} cannot be used: ${reading.reason}`);
  return null;
}
