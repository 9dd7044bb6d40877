/** Why a connection was not made, as the adapter heard it. */
export interface ConnectionFailure {
  /** Of Node, OpenSSL or the server; null: none. */
  readonly code: string | null;
  readonly message: string;
}

/** A failure in words for people: no capital letter at the beginning, no full stop at the end. */
export interface FailureWords {
  readonly says: string;
  readonly mend: string;
}

const FOREIGN = [
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_SIGNATURE_FAILURE'],
];

const RENEW = '`berth init DIR --renew-certificates`, then tell the server to read it again';

type Words = readonly [says: string, mend: (setting: string) => string];

const UNREACHED: Words = ['it cannot be reached', () => 'is its machine up, and does no firewall stand between?'];
const UNNAMED: Words = [
  'its name is not known',
  (setting) => `is the name in ${setting} right, and does the DNS of this machine know it?`,
];
const UNBELIEVED: Words = [
  'its certificate is of an authority that is not believed here',
  () => 'NODE_EXTRA_CA_CERTS must name tls/ca.crt of the installation that this server belongs to',
];

const WORDS: Readonly<Record<string, Words>> = {
  ...Object.fromEntries(FOREIGN.map((code) => [code, UNBELIEVED])),
  CERT_HAS_EXPIRED: ['its certificate is over', () => RENEW],
  CERT_NOT_YET_VALID: ['its certificate is not good yet', () => 'set the clocks of both machines'],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'its certificate is for other names',
    (setting) => `${setting} must name it as \`berth init\` was told to`,
  ],
  ENOTFOUND: UNNAMED,
  EAI_AGAIN: UNNAMED,
  ECONNREFUSED: ['nobody listens there', (setting) => `start it, or set ${setting} to where it is`],
  ETIMEDOUT: UNREACHED,
  EHOSTUNREACH: UNREACHED,
  ENETUNREACH: UNREACHED,
};

/**
 * Says what kept somebody from connecting, and what mends it.
 *
 * @param setting that names the server
 */
export function wordsOfFailure(setting: string, { code, message }: ConnectionFailure): FailureWords {
  const [says, mend] = WORDS[code ?? ''] ?? [
    message === '' ? (code ?? 'it cannot be reached') : message,
    () => `is it up, and is ${setting} right?`,
  ];
  return { says, mend: mend(setting) };
}

/** Whether a broker said that it does not know the key. */
export const isRefusedByBroker = ({ message }: ConnectionFailure): boolean =>
  /authorization|authentication/i.test(message);
