import { readJson } from '@berth/contracts';
import {
  count,
  objectOf,
  orNull,
  readAs,
  readShape,
  text,
  unreadable,
  type Reading,
  type Shape,
} from '@berth/domain/shape';
import type { RouterPresence, ShardClaim } from '@berth/endpoint-log';

const VERSION = 1;

type Stored<Value> = Value & { readonly v: typeof VERSION };

const PRESENCE = { routerId: text(), incarnation: text(), reads: count } as const;
const CLAIM_SHAPE = objectOf<Stored<ShardClaim>>({
  v: count,
  owner: orNull(objectOf<RouterPresence>(PRESENCE)),
  term: count,
});
const PRESENCE_SHAPE = objectOf<Stored<RouterPresence>>({ v: count, ...PRESENCE });

export const encodeClaim = ({ owner, term }: ShardClaim): string =>
  JSON.stringify({ v: VERSION, owner: owner === null ? null : presenceOf(owner), term });

export const encodePresence = (router: RouterPresence): string => JSON.stringify({ v: VERSION, ...presenceOf(router) });

const presenceOf = ({ incarnation, reads, routerId }: RouterPresence): RouterPresence => ({
  routerId,
  incarnation,
  reads,
});

/** Reads a claim, whatever was written there; never throws. */
export function readClaim(body: Uint8Array): Reading<ShardClaim> {
  const reading = readStored<Stored<ShardClaim>>(CLAIM_SHAPE, body);
  return reading.kind === 'unreadable' ? reading : readAs({ owner: reading.value.owner, term: reading.value.term });
}

/** Reads a sign of life, whatever was written there; never throws. */
export function readPresence(body: Uint8Array): Reading<RouterPresence> {
  const reading = readStored<Stored<RouterPresence>>(PRESENCE_SHAPE, body);
  return reading.kind === 'unreadable' ? reading : readAs(presenceOf(reading.value));
}

function readStored<Value extends { readonly v: number }>(shape: Shape, body: Uint8Array): Reading<Value> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  const reading = readShape<Value>(shape, json.value);
  if (reading.kind === 'unreadable' || reading.value.v === VERSION) return reading;
  return unreadable(`it is not of version ${VERSION}`);
}
