const ASK_MS = 10_000;

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface RuleHealth {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly state: string;
}

/** The HTTP interface of a Prometheus. */
export class AskedPrometheus {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** The figures that a query has now: what is no number counts for none. */
  async figuresOf(query: string): Promise<readonly number[]> {
    const { result } = await this.#get<{ readonly result: readonly Sample[] }>('query', { query });
    return result.map(({ value: [, figure] }) => Number(figure)).filter(Number.isFinite);
  }

  valuesOf(label: string, metric: string): Promise<readonly string[]> {
    return this.#get(`label/${label}/values`, { 'match[]': metric });
  }

  async rules(): Promise<readonly RuleHealth[]> {
    const { groups } = await this.#get<{ readonly groups: readonly { readonly rules: readonly RuleHealth[] }[] }>(
      'rules',
    );
    return groups.flatMap(({ rules }) => rules);
  }

  async #get<Data>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<Data> {
    const url = `${this.#url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_MS) });
    const { data, error } = (await response.json()) as { readonly data: Data; readonly error?: string };
    if (!response.ok) throw new Error(`${url}: ${error ?? response.status}`);
    return data;
  }
}
