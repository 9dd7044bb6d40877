import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { SavedImage } from './saved-image.js';

export interface RegistryLogin {
  readonly username: string;
  readonly password: string;
}

export interface RegistryRequest {
  readonly url: string;
  readonly authorization: string | null;
}

interface Content {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Layers on their way, and how much of each may go. */
interface Hold {
  share: number;
  readonly advances: (() => void)[];
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const CONFIG = 'application/vnd.docker.container.image.v1+json';
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip';
const BLOB = 'application/octet-stream';
/** `/v2/NAME/manifests/TAG` and `/v2/NAME/blobs/DIGEST`. */
const CONTENT_PATH = /^\/v2\/(?<name>.+)\/(?<kind>manifests|blobs)\/(?<reference>[^/]+)$/;

/** The read side of an image registry, in memory and on this machine's loopback. */
export class ImageRegistry {
  readonly #login: RegistryLogin | null;
  readonly #server = createServer((request, response) => {
    this.#answer(request, response);
  });
  /** By `NAME/KIND/REFERENCE`. */
  readonly #contents = new Map<string, Content>();
  readonly requests: RegistryRequest[] = [];
  #port = 0;
  #hold: Hold | null = null;

  /** @param login whom it lets in; null: everybody */
  constructor(login: RegistryLogin | null = null) {
    this.#login = login;
  }

  /** `127.0.0.1:PORT`, which engines speak plain HTTP to. */
  get address(): string {
    return `127.0.0.1:${String(this.#port)}`;
  }

  /** On any free port; again after a stop, on the one it had. */
  async start(): Promise<void> {
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server.close(), 'close');
    this.#server.closeAllConnections();
    await closed;
  }

  /** Gives the image out; returns the name to pull it by. */
  serve(name: string, tag: string, image: SavedImage): string {
    const config = this.#put(name, { type: BLOB, bytes: image.config });
    const layers = image.layers.map((layer) => this.#put(name, { type: BLOB, bytes: compressed(layer) }));
    const manifest = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: { mediaType: CONFIG, ...config },
      layers: layers.map((layer) => ({ mediaType: LAYER, ...layer })),
    };
    const content = { type: MANIFEST, bytes: Buffer.from(JSON.stringify(manifest)) };
    this.#contents.set(`${name}/manifests/${tag}`, content);
    this.#contents.set(`${name}/manifests/${digestOf(content.bytes)}`, content);
    return `${this.address}/${name}:${tag}`;
  }

  /** Loses the image's layers: its manifest promises what cannot be had. */
  loseLayers(name: string): void {
    const isLayer = (key: string): boolean => key.startsWith(`${name}/blobs/`);
    for (const [key, { bytes }] of this.#contents) if (isLayer(key) && bytes[0] === GZIP) this.#contents.delete(key);
  }

  /** From now on layers come only as far as the returned function says: up to a share of each, 0 to 1; 1 ends it. */
  holdLayers(): (share: number) => void {
    const hold: Hold = { share: 0, advances: [] };
    this.#hold = hold;
    return (share) => {
      hold.share = Math.max(hold.share, share);
      if (share >= 1) this.#hold = null;
      for (const advance of hold.advances) advance();
    };
  }

  #put(name: string, content: Content): { readonly size: number; readonly digest: string } {
    const digest = digestOf(content.bytes);
    this.#contents.set(`${name}/blobs/${digest}`, content);
    return { size: content.bytes.length, digest };
  }

  #answer({ headers, method, url = '' }: IncomingMessage, response: ServerResponse): void {
    this.requests.push({ url, authorization: headers.authorization ?? null });
    if (!this.#admits(headers.authorization)) {
      response.setHeader('www-authenticate', 'Basic realm="registry"');
      refuse(response, UNAUTHORIZED);
      return;
    }
    if (url === '/v2/') {
      response.end('{}');
      return;
    }
    const { name = '', kind = '', reference = '' } = CONTENT_PATH.exec(url)?.groups ?? {};
    const content = this.#contents.get(`${name}/${kind}/${reference}`);
    if (content !== undefined) this.#send(content, response, method === 'HEAD');
    else if (kind === 'manifests') refuse(response, MANIFEST_UNKNOWN);
    else refuse(response, BLOB_UNKNOWN);
  }

  #admits(authorization: string | undefined): boolean {
    if (this.#login === null) return true;
    const { username, password } = this.#login;
    return authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  #send({ bytes, type }: Content, response: ServerResponse, isHead: boolean): void {
    response.writeHead(200, {
      'content-type': type,
      'content-length': bytes.length,
      'docker-content-digest': digestOf(bytes),
    });
    const hold = bytes[0] === GZIP ? this.#hold : null;
    if (isHead || hold === null) {
      response.end(isHead ? undefined : bytes);
      return;
    }
    let sent = 0;
    const advance = (): void => {
      // The client has it all, or has gone.
      if (response.writableEnded || response.destroyed) return;
      const until = Math.floor(bytes.length * hold.share);
      response.write(bytes.subarray(sent, until));
      sent = until;
      if (hold.share >= 1) response.end();
    };
    hold.advances.push(advance);
    advance();
  }
}

/** First byte of every compressed layer, and of nothing else here. */
const GZIP = 0x1f;

/** Some engines save layers as they got them. */
const compressed = (layer: Buffer): Buffer => (layer[0] === GZIP ? layer : gzipSync(layer, { level: 1 }));

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const UNAUTHORIZED: Refusal = { status: 401, code: 'UNAUTHORIZED', message: 'authentication required' };
const MANIFEST_UNKNOWN: Refusal = { status: 404, code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' };
const BLOB_UNKNOWN: Refusal = { status: 404, code: 'BLOB_UNKNOWN', message: 'blob unknown to registry' };

function refuse(response: ServerResponse, { status, ...error }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ errors: [error] }));
}
