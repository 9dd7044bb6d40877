import { createHash, timingSafeEqual } from 'node:crypto';

/** The identity of a worker, by the token it shows. Only digests are kept and compared, each comparison in constant time. */
export class WorkerTokens<Owner> {
  readonly #owners = new Map<string, { readonly digest: Buffer; readonly owner: Owner }>();

  add(token: string, owner: Owner): void {
    const digest = digestOf(token);
    this.#owners.set(digest.toString('hex'), { digest, owner });
  }

  remove(token: string): void {
    this.#owners.delete(digestOf(token).toString('hex'));
  }

  /** @param authorization the header's value: the bare token, as the SDK sends it, or `Bearer` and the token */
  find(authorization: string | undefined): Owner | null {
    if (authorization === undefined) return null;
    const digest = digestOf(authorization.replace(/^Bearer\s+/i, '').trim());
    const known = this.#owners.get(digest.toString('hex'));
    return known !== undefined && timingSafeEqual(known.digest, digest) ? known.owner : null;
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();
