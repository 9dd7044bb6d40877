import type { ConfirmedReply } from './confirmed-reply.js';

/** Sends one part of a reply. */
export type TellPart<Part> = (part: Part | ConfirmedReply<Part>) => void;

/**
 * The reply of a handler that answers in parts, each as soon as it is known. The asking side knows by what they say
 * which is the last one.
 */
export class PartedReply<Part> {
  /** @param run resolves when every part has been told; a rejection is told as the error that ends the reply */
  constructor(readonly run: (tell: TellPart<Part>) => Promise<void>) {}
}
