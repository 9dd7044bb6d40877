import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { NameLookup } from './name-lookup.port.js';
import { candidatesOf, hostsAddressesOf, parseSearchList } from './resolver-files.js';

const TIMEOUT_MS = 2_000;
const TRIES = 2;

/** Names of this machine (RFC 6761), which no name server is asked about. */
const LOCAL = /^(.+\.)?localhost\.?$/;

/** The words of name servers about a name that they do not know, or that cannot be one. */
const UNKNOWN: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];
const isUnknown = (error: unknown): boolean => UNKNOWN.includes((error as NodeJS.ErrnoException).code);

export interface SystemNames {
  readonly hostsFile: string;
  readonly resolverFile: string;
  /** As `address:port`; absent: those of the system. */
  readonly servers?: readonly string[];
}

const OF_THIS_MACHINE: SystemNames = { hostsFile: '/etc/hosts', resolverFile: '/etc/resolv.conf' };

/**
 * Finds what the system would: the hosts file first, then the name servers with the search list. It is not asked itself
 * because it can neither be called off nor told a time limit, and answers on two of the four threads that the whole
 * process shares: a few names without an answering server would hold up all others.
 */
export class SystemNameLookup implements NameLookup {
  readonly #names: SystemNames;

  constructor(names = OF_THIS_MACHINE) {
    this.#names = names;
  }

  async addressesOf(name: string): Promise<readonly string[]> {
    if (LOCAL.test(name)) return ['127.0.0.1', '::1'];
    const { hostsFile, resolverFile, servers } = this.#names;
    const listed = hostsAddressesOf(name.replace(/\.$/, ''), await textOf(hostsFile));
    if (listed.length > 0) return listed;
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    for (const candidate of candidatesOf(name, parseSearchList(await textOf(resolverFile)))) {
      const found = await ask(resolver, candidate);
      if (found.length > 0) return found;
    }
    throw new Error(`${name} is not known`);
  }
}

/** Empty where the name is not known. A name with addresses of one family is usual; the other's answer is then an error. */
async function ask(resolver: Resolver, name: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  for (const answer of answers) {
    if (answer.status === 'rejected' && !isUnknown(answer.reason)) throw answer.reason;
  }
  return [];
}

/** A machine without the file has nothing in it. */
async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
