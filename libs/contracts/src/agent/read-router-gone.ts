import { id, objectOf } from '../shape/index.js';
import type { RouterGoneMessage } from './job-messages.js';

const routerGone = objectOf<RouterGoneMessage>({ router: id });

/** Null: it names no router, and tells nothing. */
export const readRouterGone = (body: unknown): RouterGoneMessage | null =>
  routerGone(body, '$') === null ? (body as RouterGoneMessage) : null;
