/** Every route of the application, to tell a wrong method from a wrong path. */
export class RouteTable {
  readonly #routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];

  /** @param path as the router has it: `/v2/serverless/:id` */
  add(path: string, methods: readonly string[]): void {
    const source = path
      .split('/')
      .map((segment) => (segment.startsWith(':') ? '[^/]+' : escape(segment).replace('\\*', '.*')))
      .join('/');
    this.#routes.push({ pattern: new RegExp(`^${source}$`), methods });
  }

  /** The methods that the path of `url` answers, in alphabetical order; empty where there is no such path. */
  methodsOf(url: string): readonly string[] {
    const path = url.split('?')[0] ?? '';
    const methods = this.#routes.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  }
}

const escape = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
