/**
 * Why a question is not answered where its asker wants it.
 * `none`: it named no place; `foreign`: the place is not below the asker's own inbox; `malformed`: it is, and is no
 * subject that one message could be sent to.
 */
export type ReplyFault = 'none' | 'foreign' | 'malformed';

/** Inboxes of the client library have some seventy characters. */
const REPLY_CHARACTERS_MAX = 255;
/** Tokens without wildcards; those of the inbox too, for a host could be named like one. */
const PLACE = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

/**
 * Whether an answer may go where the asker wants it; null when it may. The asker chooses the subject freely, and the
 * answer is published with the rights of the answering process: elsewhere it would be a write in their name.
 *
 * @param inbox the asker's own: what every inbox of it begins with
 */
export function replyFault(reply: string | undefined, inbox: string): ReplyFault | null {
  if (reply === undefined || reply === '') return 'none';
  if (!reply.startsWith(`${inbox}.`)) return 'foreign';
  const isPlace = reply.length <= REPLY_CHARACTERS_MAX && PLACE.test(reply);
  return isPlace ? null : 'malformed';
}
