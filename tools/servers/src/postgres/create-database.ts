import { Client, escapeIdentifier } from 'pg';

export interface CreateDatabaseOptions {
  /** Copies this database (nobody may be connected to it) instead of making an empty one. */
  readonly template?: string;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Makes a database on the server of `serverUrl` and returns its address. */
export const createDatabase = async (
  serverUrl: string,
  name: string,
  options: CreateDatabaseOptions = {},
): Promise<string> => {
  const client = new Client({ connectionString: serverUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    const copied = options.template === undefined ? '' : ` TEMPLATE ${escapeIdentifier(options.template)}`;
    await client.query(`CREATE DATABASE ${escapeIdentifier(name)}${copied}`);
  } finally {
    await client.end();
  }
  const address = new URL(serverUrl);
  address.pathname = `/${encodeURIComponent(name)}`;
  return address.href;
};
