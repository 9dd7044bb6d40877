import type { DataSource } from 'typeorm';

/** Remembers the order in which workers are placed, and in which transaction: reports change the rows themselves. */
export async function recordPlaces(source: DataSource): Promise<void> {
  await source.query('CREATE TABLE places (at bigserial, endpoint_id text, worker_id text, transaction bigint)');
  await source.query(`CREATE FUNCTION note_place() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO places (endpoint_id, worker_id, transaction) VALUES (new.endpoint_id, new.id, txid_current());
    RETURN new; END $$`);
  await source.query('CREATE TRIGGER note_place AFTER INSERT ON workers FOR EACH ROW EXECUTE FUNCTION note_place()');
}

/** How many workers of the endpoint were placed since `recordPlaces`. */
export async function placedOf(source: DataSource, endpointId: string): Promise<number> {
  const sql = 'SELECT count(*) AS count FROM places WHERE endpoint_id = $1';
  const [row] = await source.query<{ readonly count: string }[]>(sql, [endpointId]);
  return Number(row?.count);
}
