import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A certificate and its private key, both PEM (PKCS #8). */
export interface CertifiedKey {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface CertificateRequest {
  /** Names and IPv4 or IPv6 addresses that its holder answers at; at least one. A name may begin with `*.`. */
  readonly names: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
}

/** ECDSA on P-256 with SHA-256: what every TLS 1.3 client has to know (RFC 8446, section 9.1). */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const SERIAL_BYTES = 16;
/** A machine whose clock is behind must be able to use a certificate that was made a moment ago. */
const BACKDATED_MS = 60 * 60_000;

/** An authority of one's own, which signs certificates and nothing else. Its key belongs where no server is. */
export async function createAuthority(
  name: string,
  { fromMs, untilMs }: Omit<CertificateRequest, 'names'>,
): Promise<CertifiedKey> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: [{ CN: [name] }],
    notBefore: new Date(fromMs - BACKDATED_MS),
    notAfter: new Date(untilMs),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return describe(certificate, keys.privateKey);
}

/**
 * A certificate for a server that also shows it to others of its kind.
 *
 * @throws an error of WebCrypto where the authority's key cannot be read
 */
export async function issueCertificate(authority: CertifiedKey, request: CertificateRequest): Promise<CertifiedKey> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const issuer = new X509Certificate(authority.certificate);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    issuer: issuer.subject,
    subject: [{ CN: [request.names[0] ?? ''] }],
    notBefore: new Date(request.fromMs - BACKDATED_MS),
    notAfter: new Date(request.untilMs),
    signingAlgorithm: ALGORITHM,
    signingKey: await readPrivateKey(authority.privateKey),
    publicKey: keys.publicKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension(
        request.names.map((value) => ({ type: isAddress(value) ? 'ip' : 'dns', value })),
      ),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return describe(certificate, keys.privateKey);
}

const newSerial = (): string => {
  const bytes = webcrypto.getRandomValues(new Uint8Array(SERIAL_BYTES));
  // A serial number is positive (RFC 5280, section 4.1.2.2).
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return Buffer.from(bytes).toString('hex');
};

const isAddress = (name: string): boolean => isIP(name) !== 0;

const readPrivateKey = (pem: string): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), ALGORITHM, false, ['sign']);

async function describe(certificate: X509Certificate, privateKey: webcrypto.CryptoKey): Promise<CertifiedKey> {
  return {
    certificate: `${certificate.toString('pem')}\n`,
    privateKey: `${PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')}\n`,
  };
}
