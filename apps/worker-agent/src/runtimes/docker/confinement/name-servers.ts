import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';

/** The second is where a machine with a local stub resolver keeps the servers behind it; engines read it then. */
const FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];
/** As many as a resolver asks. */
const SERVERS_MAX = 6;

/**
 * The name servers that the engine may ask for its containers, from within them. One on the machine's loopback is not
 * among them: the engine asks it itself.
 */
export async function nameServersOfMachine(): Promise<readonly string[]> {
  const texts = await Promise.all(FILES.map((file) => readFile(file, 'utf8').catch(() => '')));
  return nameServersIn(texts.join('\n'));
}

export function nameServersIn(text: string): readonly string[] {
  const found = [...text.matchAll(/^[ \t]*nameserver[ \t]+(\S+)/gm)].map(([, address = '']) => address);
  const usable = found.filter((address) => isIPv4(address) && !address.startsWith('127.'));
  return [...new Set(usable)].slice(0, SERVERS_MAX);
}
