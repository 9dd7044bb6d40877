const PORT = /:\d*$/;

/**
 * The endpoint whose host name it is: `{endpointId}.{domain}`, in any case, with any port. Null: it is not under the
 * domain. A name that can be no endpoint's is returned as it is, and there is none of that name.
 *
 * @param host of the request's header
 * @param domain with or without a port
 */
export function endpointIdOfHost(host: string | undefined, domain: string): string | null {
  const name = bareName(host ?? '');
  const suffix = `.${bareName(domain)}`;
  return name.length > suffix.length && name.endsWith(suffix) ? name.slice(0, -suffix.length) : null;
}

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::\\d{1,5})?$`, 'i');

/** Whether names of endpoints can lie under it: a domain, with or without a port, and nothing else of an address. */
export const isEndpointDomain = (text: string): boolean => DOMAIN.test(text);

/** A trailing dot says that a name is whole, and changes nothing of which it is. */
const bareName = (host: string): string => host.replace(PORT, '').replace(/\.$/, '').toLowerCase();
