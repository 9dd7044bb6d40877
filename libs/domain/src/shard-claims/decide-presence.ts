import { CLAIM_WRITE_EVERY_MS } from './bounds.js';
import { isPresenceDue } from './claim-writes.js';
import type { ClaimsState, KnownRouter } from './claims-state.js';
import type { ClaimsView } from './decide-claims.js';

/** The step to take for the signs of life in the bucket, and its reason. */
export type PresenceDecision =
  | { readonly kind: 'present'; readonly reason: 'sign-of-life-due' }
  | { readonly kind: 'strike-off'; readonly incarnation: string; readonly reason: 'stopping' | 'proven-dead' };

/**
 * A router that stops is struck off before it hands anything over: the others then share among themselves, and take at once
 * what comes free. Those that are proven dead are struck off by the others;
 * those that are only silent leave the bucket by themselves.
 */
export function decidePresence(state: ClaimsState, view: ClaimsView, nowMs: number): readonly PresenceDecision[] {
  const isDue = !view.isStopping && isPresenceDue(state, nowMs);
  const ended = [...state.routers.values()].flatMap((router) => {
    const reason = strikeOffReason(state, router, view);
    if (reason === null || nowMs - router.struckOffAtMs < CLAIM_WRITE_EVERY_MS) return [];
    return [{ kind: 'strike-off', incarnation: router.presence.incarnation, reason } as const];
  });
  return [...(isDue ? [{ kind: 'present', reason: 'sign-of-life-due' } as const] : []), ...ended];
}

function strikeOffReason({ self }: ClaimsState, { presence }: KnownRouter, { dead, isStopping }: ClaimsView) {
  if (presence.incarnation === self.incarnation) return isStopping ? 'stopping' : null;
  return dead.has(presence.incarnation) ? 'proven-dead' : null;
}

/** The request to strike a router off leaves; it is repeated for as long as surveys show the router. */
export function beginStrikeOff(state: ClaimsState, incarnation: string, nowMs: number): void {
  const router = state.routers.get(incarnation);
  if (router !== undefined) router.struckOffAtMs = nowMs;
}
