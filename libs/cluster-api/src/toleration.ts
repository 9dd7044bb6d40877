import { integer, listOf, objectOf, optional, text, type Shape } from '@berth/domain/shape';

/** A toleration as the cluster writes it. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

const TOLERATIONS_MAX = 64;

/** What the cluster makes of their words is for it to say. */
export const TOLERATIONS: Shape = listOf(
  objectOf<Toleration>({
    key: optional(text()),
    operator: optional(text()),
    value: optional(text()),
    effect: optional(text()),
    tolerationSeconds: optional(integer(Number.MIN_SAFE_INTEGER)),
  }),
  TOLERATIONS_MAX,
);
