import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface TokenFacts {
  readonly account: string;
  readonly audience: string;
  readonly node: { readonly name: string; readonly uid: string };
  readonly expiresAtMs: number;
}

const FACT = 'authentication.kubernetes.io';
const MS_PER_SECOND = 1_000;

/** The API of a cluster that makes tokens and reviews them; in other respects there is nothing in it. */
export class ReviewingCluster {
  /** Tokens that were shown, in their order. */
  readonly reviewed: string[] = [];
  /** It takes questions, and answers none. */
  isSilent = false;
  readonly #good = new Map<string, TokenFacts>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #folder = '';
  #made = 0;

  get kubeconfig(): string {
    return join(this.#folder, 'config');
  }

  /** @param folder that its kubeconfig is written to */
  async open(folder: string): Promise<void> {
    this.#folder = folder;
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const server = `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c', users: [{ name: 'u', user: {} }] },
      clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    await writeFile(this.kubeconfig, JSON.stringify(config));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** A token that this cluster vouches for. */
  newToken(facts: TokenFacts): string {
    this.#made += 1;
    const [, , namespace = '', name = ''] = facts.account.split(':');
    const claims = {
      ...{ aud: [facts.audience], exp: facts.expiresAtMs / MS_PER_SECOND, sub: facts.account, jti: String(this.#made) },
      'kubernetes.io': { namespace, serviceaccount: { name }, node: facts.node, pod: { name: 'agent', uid: 'pod' } },
    };
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'RS256' })}.${part(claims)}.${part(this.#made)}`;
    this.#good.set(token, facts);
    return token;
  }

  /** As when its Pod is deleted. */
  revoke(token: string): void {
    this.#good.delete(token);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { spec } = JSON.parse(Buffer.concat(parts).toString()) as { spec: { token: string; audiences: string[] } };
    this.reviewed.push(spec.token);
    if (this.isSilent) return;
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: this.#statusOf(spec.token, spec.audiences) }));
  }

  #statusOf(token: string, asked: readonly string[]): object {
    const facts = this.#good.get(token);
    if (facts === undefined || !asked.includes(facts.audience)) return { error: 'no' };
    const { account, audience, node } = facts;
    const extra = {
      [`${FACT}/pod-name`]: ['agent'],
      [`${FACT}/pod-uid`]: ['pod'],
      [`${FACT}/node-name`]: [node.name],
      [`${FACT}/node-uid`]: [node.uid],
    };
    return { authenticated: true, audiences: [audience], user: { username: account, extra } };
  }
}
