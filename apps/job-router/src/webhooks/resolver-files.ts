/** How names without a dot, or with few, are completed (`resolv.conf(5)`). */
export interface SearchList {
  readonly domains: readonly string[];
  /** A name with at least so many dots is asked for as it is first. */
  readonly dotsMin: number;
}

const DOTS_MIN_DEFAULT = 1;
/** The system's own limit. */
const DOTS_MIN_MAX = 15;

/** Every address that a hosts file has for the name, in its order. */
export const hostsAddressesOf = (name: string, hostsFile: string): readonly string[] =>
  linesOf(hostsFile).flatMap(([address = '', ...names]) =>
    names.some((each) => each.toLowerCase() === name) ? [address] : [],
  );

/** Of several lists the last holds, as for the system. */
export function parseSearchList(resolverFile: string): SearchList {
  let domains: readonly string[] = [];
  let dotsMin = DOTS_MIN_DEFAULT;
  for (const [key, ...values] of linesOf(resolverFile)) {
    if (key === 'search' || key === 'domain') domains = values.filter((domain) => domain !== '.');
    const dots = key === 'options' ? values.findLast((option) => /^ndots:\d{1,2}$/.test(option)) : undefined;
    if (dots !== undefined) dotsMin = Math.min(Number(dots.slice('ndots:'.length)), DOTS_MIN_MAX);
  }
  return { domains, dotsMin };
}

/** The names to ask for, one after the other until one is known. A name that ends in a dot is whole. */
export function candidatesOf(name: string, { domains, dotsMin }: SearchList): readonly string[] {
  if (name.endsWith('.')) return [name];
  const completed = domains.map((domain) => `${name}.${domain}`);
  const hasDots = name.split('.').length > dotsMin;
  return hasDots ? [name, ...completed] : [...completed, name];
}

const linesOf = (file: string): readonly (readonly string[])[] =>
  file.split('\n').map((line) =>
    line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/),
  );
