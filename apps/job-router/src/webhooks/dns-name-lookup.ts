import { Resolver } from 'node:dns/promises';
import type { NameLookup } from './name-lookup.port.js';

const TIMEOUT_MS = 2_000;
const TRIES = 2;

/** Names of this machine (RFC 6761), which no name server is asked about. */
const LOCAL = /^(.+\.)?localhost\.?$/;

/**
 * Asks name servers directly. The system's own look-up would do it on four threads that the whole process shares, so a
 * few names that nobody answers for would hold up all others.
 */
export class DnsNameLookup implements NameLookup {
  async addressesOf(name: string): Promise<readonly string[]> {
    if (LOCAL.test(name)) return ['127.0.0.1', '::1'];
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [four, six].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    // A name with addresses of one family is usual; the other's answer is then an error.
    if (found.length === 0 && four.status === 'rejected') throw four.reason;
    return found;
  }
}
