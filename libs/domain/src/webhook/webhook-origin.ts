const ORIGIN = /^(https?:\/\/)(?:[^/?#]*@)?([^/?#@]+)/i;

/** Scheme and host of a webhook: path, query and credentials of its address are often a secret. Null: it is no address. */
export function webhookOrigin(url: string): string | null {
  const [, scheme, host] = ORIGIN.exec(url) ?? [];
  return scheme === undefined || host === undefined ? null : `${scheme}${host}`;
}
