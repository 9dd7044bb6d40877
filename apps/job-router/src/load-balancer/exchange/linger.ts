import type { IncomingMessage } from 'node:http';
import type { Clock } from '@berth/lifecycle';

/** What is left of a body whose answer has been given may still arrive for so long. */
const LINGER_MS = 5_000;

/** The rest of a body that nobody wants is read, so that its caller comes to read the answer; but not for long. */
export function linger(request: IncomingMessage, clock: Clock): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const disarm = clock.after(LINGER_MS, () => request.socket.destroy());
  request.once('end', disarm).once('close', disarm);
}
