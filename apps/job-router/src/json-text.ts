import { encodeJson, type RawJson } from '@berth/domain';

/**
 * JSON text built from parts that are JSON text already, so that an output leaves exactly as its worker sent it:
 * parsing and writing it again would round numbers and reorder keys (decisions, "Bytes").
 */
export function objectText(members: Iterable<readonly [name: string, value: RawJson]>): RawJson {
  const parts: string[] = [];
  for (const [name, value] of members) parts.push(`${encodeJson(name)}:${value}`);
  return `{${parts.join(',')}}` as RawJson;
}

export const arrayText = (items: readonly RawJson[]): RawJson => `[${items.join(',')}]` as RawJson;
