import type { AccountId, EndpointId, HostId } from '../../ids.js';
import {
  FAILED_HOSTS_MAX,
  besideSiblings,
  failedHosts,
  placeWorker,
  type HostRoom,
  type Placed,
  type PlacementRequest,
  type Unplaced,
} from '../../placement/index.js';
import type { Worker } from '../../worker/index.js';
import type { AccountShares } from './account-shares.js';
import type { FleetEndpoint } from '../fleet.js';
import type { FleetOperation } from '../fleet-operation.js';
import type { Room } from '../plan-staffing.js';
import { SmallestFirst } from './smallest-first.js';
import { bindVolume, withBoundVolumes } from './volume-binding.js';
import { waitingSinceMs } from '../waiting-workers.js';

/** Workers that one endpoint wants and has not. */
export interface Claim {
  readonly endpoint: FleetEndpoint;
  readonly request: PlacementRequest;
  /** The endpoint's workers as they were before the plan: those that are forgotten in it still tell where they failed. */
  readonly before: readonly Worker[];
  /** Those of them that stay. */
  readonly staying: readonly Worker[];
  readonly missing: number;
}

type CreateWorker = FleetOperation & { readonly kind: 'create-worker' };

/** What a claim has got. */
export interface Given {
  readonly creates: readonly CreateWorker[];
  /** Null where every worker has a place. */
  readonly unplaced: { readonly count: number; readonly why: Unplaced } | null;
}

export interface HandedOut {
  readonly given: ReadonlyMap<EndpointId, Given>;
  /** Workers that have a place, and whose turn comes in the next plan. */
  readonly postponed: number;
  /** Claims that could not be looked at: they keep no other from its place. */
  readonly failed: ReadonlyMap<EndpointId, unknown>;
}

/**
 * Places of one plan. Each is a row that is written and a worker that is told of, and who comes meanwhile waits until all
 * of them are; what is left is planned again at once, with whoever has come by then.
 */
export const PLACES_MAX = 200;

/**
 * Hands places out one worker at a time (ADR 0056): to the account with the smallest share of the fleet, and of its
 * endpoints first to one that has no worker at all, then to the one that has waited longest. A claim that is refused is
 * over, and stops no other; what was refused once is not looked for again, since room only becomes less. After
 * `PLACES_MAX` places it is only said who is refused.
 */
export function handOut(claims: readonly Claim[], shares: AccountShares, room: Room): HandedOut {
  const queue = new SmallestFirst<AccountClaims>(compareAccounts);
  for (const [accountId, theirs] of Map.groupBy(claims, ({ endpoint }) => endpoint.accountId)) {
    queue.put(accountClaims(accountId, theirs, shares));
  }
  const given = new Map<EndpointId, Given>();
  const failed = new Map<EndpointId, unknown>();
  const serving: Serving = {
    ...{ shares, room, refusals: new Map(), postponed: new Set() },
    count: { placesLeft: PLACES_MAX, postponed: 0 },
  };
  for (let account = queue.take(); account !== null; account = queue.take()) {
    const claim = account.claims.take();
    if (claim === null) continue;
    try {
      if (isOpenAfter(claim, serving)) account.claims.put(claim);
      else given.set(claim.endpoint.id, { creates: claim.creates, unplaced: leftOf(claim) });
    } catch (error) {
      failed.set(claim.endpoint.id, error);
    }
    if (account.claims.peek() !== null) queue.put({ ...account, share: shares.shareOf(account.accountId) });
  }
  return { given, postponed: serving.count.postponed, failed };
}

interface OpenClaim extends Claim {
  readonly sinceMs: number;
  readonly failedOn: readonly HostId[];
  readonly creates: CreateWorker[];
  refusal: Unplaced | null;
}

interface AccountClaims {
  readonly accountId: AccountId;
  readonly share: number;
  readonly claims: SmallestFirst<OpenClaim>;
}

function accountClaims(accountId: AccountId, theirs: readonly Claim[], shares: AccountShares): AccountClaims {
  const claims = new SmallestFirst<OpenClaim>(compareClaims);
  for (const claim of theirs) {
    const { before, endpoint } = claim;
    const ofRelease = before.filter(({ release }) => release === endpoint.release);
    const failedOn = failedHosts(ofRelease).slice(0, FAILED_HOSTS_MAX);
    claims.put({ ...claim, sinceMs: waitingSinceMs(endpoint), failedOn, creates: [], refusal: null });
  }
  return { accountId, share: shares.shareOf(accountId), claims };
}

const isOpen = ({ creates, missing, refusal }: OpenClaim): boolean => refusal === null && creates.length < missing;

const leftOf = ({ creates, missing, refusal }: OpenClaim): Given['unplaced'] =>
  refusal === null ? null : { count: missing - creates.length, why: refusal };

const hasNone = ({ creates, staying }: OpenClaim): boolean => staying.length + creates.length === 0;

const compareClaims = (a: OpenClaim, b: OpenClaim): number =>
  Number(hasNone(b)) - Number(hasNone(a)) ||
  a.sinceMs - b.sinceMs ||
  a.endpoint.createdAtMs - b.endpoint.createdAtMs ||
  (a.endpoint.id < b.endpoint.id ? -1 : 1);

function compareAccounts(a: AccountClaims, b: AccountClaims): number {
  const [first, second] = [a.claims.peek(), b.claims.peek()];
  if (a.share !== b.share || first === null || second === null) return a.share - b.share;
  return compareClaims(first, second);
}

interface Serving {
  readonly shares: AccountShares;
  /** By what was asked for. */
  readonly refusals: Map<string, Unplaced>;
  /** What was asked for, and has a place, when no more places are handed out: room stays as it is from then on. */
  readonly postponed: Set<string>;
  readonly room: Room;
  readonly count: { placesLeft: number; postponed: number };
}

/** Gives the claim its next place, as long as there are any to hand out. Returns whether it wants another one in this plan. */
function isOpenAfter(claim: OpenClaim, serving: Serving): boolean {
  const { count } = serving;
  if (count.placesLeft > 0) {
    if (serve(claim, serving)) count.placesLeft -= 1;
    return isOpen(claim);
  }
  if (hasPlace(claim, serving)) count.postponed += claim.missing - claim.creates.length;
  return false;
}

/** One more worker, or the reason why there is none. Returns whether there is one. */
function serve(claim: OpenClaim, serving: Serving): boolean {
  const { room, shares } = serving;
  const request = withBoundVolumes(claim.request, room);
  const place = placeFor(claim, request, serving);
  if (place === null) return false;
  const { hostId, resources } = place;
  room.loads.get(hostId)?.take(resources);
  shares.take(claim.endpoint.accountId, resources);
  const made = bindVolume(newWorker(claim, place, room), request, room);
  claim.creates.push({ kind: 'create-worker', ...made, reason: 'wanted' });
  return true;
}

/** Whether one more worker could have a place, which nobody takes; if not, the claim has its reason. */
function hasPlace(claim: OpenClaim, serving: Serving): boolean {
  const request = withBoundVolumes(claim.request, serving.room);
  const key = refusalKey(request);
  const isKnown = serving.postponed.has(key) && quotaRefusal(claim, request, serving) === null;
  if (!isKnown && placeFor(claim, request, serving) === null) return false;
  serving.postponed.add(key);
  return true;
}

function placeFor(claim: OpenClaim, request: PlacementRequest, serving: Serving): Placed | null {
  const { creates, endpoint, staying } = claim;
  const { refusals, room } = serving;
  const key = refusalKey(request);
  claim.refusal = quotaRefusal(claim, request, serving) ?? refusals.get(key) ?? null;
  if (claim.refusal !== null) return null;
  const siblings = [...staying, ...creates.map(({ worker }) => worker)];
  const place = placed(besideSiblings(request, endpoint.spec, siblings), claim.failedOn, room);
  if (place.kind === 'placed') return place;
  claim.refusal = place;
  refusals.set(key, place);
  return null;
}

const quotaRefusal = ({ endpoint }: OpenClaim, { gpu }: PlacementRequest, { shares }: Serving): Unplaced | null =>
  shares.refusalOf(endpoint.accountId, gpu?.count ?? 0);

/** Suspect hosts come late, and those where workers of the release have failed again and again come last. */
function placed(request: PlacementRequest, failedOn: readonly HostId[], { allLoads, nowMs, suspects }: Room) {
  if (failedOn.length === 0 && suspects.size === 0) return placeWorker(request, allLoads, nowMs);
  const untried = allLoads.filter(({ host }) => !failedOn.includes(host.id));
  const unsuspected = untried.filter(({ host }) => !suspects.has(host.id));
  return firstPlace([unsuspected, untried, allLoads], request, nowMs);
}

/** In the first of these that has room; each has those before it, so one of the same size is not asked again. */
function firstPlace(
  [some = [], ...wider]: readonly (readonly HostRoom[])[],
  request: PlacementRequest,
  nowMs: number,
): ReturnType<typeof placeWorker> {
  const place = placeWorker(request, some, nowMs);
  const rest = wider.filter(({ length }) => length > some.length);
  return place.kind === 'placed' || rest.length === 0 ? place : firstPlace(rest, request, nowMs);
}

function newWorker(
  { endpoint: { id: endpointId, release }, failedOn }: OpenClaim,
  { hostId, resources }: Pick<Worker, 'hostId' | 'resources'>,
  { newWorkerId, nowMs }: Room,
): Worker {
  return {
    ...{ id: newWorkerId(), endpointId, hostId, release, resources },
    ...{ intent: 'running', createdAtMs: nowMs, observed: null },
    ...(failedOn.length === 0 ? {} : { failedOn }),
  };
}

/** All that can be refused; the image and what is better do not count. */
export const refusalKey = ({
  cpu,
  dataCenterIds,
  diskGb,
  gpu,
  volumeDataCenterIds,
  volumes,
}: PlacementRequest): string => JSON.stringify([cpu, gpu, diskGb, dataCenterIds, volumeDataCenterIds, volumes]);
