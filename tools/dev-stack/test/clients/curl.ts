import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BalancedEndpoint } from '../stack/balanced-endpoint.js';

const run = promisify(execFile);

export interface CurlReport {
  /** Every head of an answer, and then the body. */
  readonly text: string;
  /** Bytes of a body that it has sent. */
  readonly uploaded: number;
  readonly status: number;
  readonly httpVersion: string;
}

const FIGURES = '\n%{size_upload} %{response_code} %{http_version}';

/** Has the public client curl ask an endpoint's own name. It gives up after a minute. */
export async function curl(endpoint: BalancedEndpoint, path: string, args: readonly string[]): Promise<CurlReport> {
  const { host, port } = endpoint.routerAt();
  const headers = Object.entries(endpoint.headersOf({})).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const ways = ['--silent', '--include', '--path-as-is', '--globoff', '--max-time', '60', '--write-out', FIGURES];
  const { stdout } = await run('curl', [...ways, ...headers, ...args, `http://${host}:${port}${path}`]);
  const end = stdout.lastIndexOf('\n');
  const [uploaded, status, httpVersion = ''] = stdout.slice(end + 1).split(' ');
  return { text: stdout.slice(0, end), uploaded: Number(uploaded), status: Number(status), httpVersion };
}

/** The JSON that is the body. */
export const bodyOf = ({ text }: CurlReport): unknown => JSON.parse(text.slice(text.indexOf('\r\n\r\n{') + 4));
