import type { LookupFunction } from 'node:net';
import { OWN_MACHINE } from '../runtimes/index.js';

/** A program that listens at `localhost` has one of these or the other, by whatever the machine's names say. */
const OWN_ADDRESSES = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const ownAddresses: LookupFunction = (_name, _options, tell) => {
  tell(null, OWN_ADDRESSES);
};

interface DialOptions {
  readonly host: string;
  readonly lookup?: LookupFunction;
  /** The next address is tried where the one before takes no connection. */
  readonly autoSelectFamily?: boolean;
}

/** How a worker's address is connected; no name server is asked. */
export const dialOptions = (address: string): DialOptions =>
  address === OWN_MACHINE ? { host: address, lookup: ownAddresses, autoSelectFamily: true } : { host: address };
