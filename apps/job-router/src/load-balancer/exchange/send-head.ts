import type { OutgoingMessage } from 'node:http';

/** As Node has it, for classes that derive from its own. */
interface HeadSender {
  _send(text: string, encoding: 'latin1'): boolean;
}

/**
 * Sends the head that is ready, before there is anything of a body. `flushHeaders` does so too, but names no encoding, so
 * that a head leaves in UTF-8 and each byte beyond ASCII becomes two: what Node has read is a letter for each byte. To write
 * an empty string does nothing where there can be no body, and what fails behind such a head would then take it along.
 */
export function sendHead(message: OutgoingMessage): void {
  (message as unknown as HeadSender)._send('', 'latin1');
}
