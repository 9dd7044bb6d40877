/** Writes each dashboard to `deploy/grafana/dashboards`, as Grafana reads them. Run it after `npm run build`. */
import { format } from 'prettier';
import { makeBoards } from '../dashboards/dist/index.js';
import { keepGenerated } from './generated-file.mjs';

const FOLDER = new URL('../../deploy/grafana/dashboards/', import.meta.url);

for (const board of makeBoards()) {
  const text = await format(JSON.stringify(board), { parser: 'json', printWidth: 120 });
  await keepGenerated(new URL(`${board.uid}.json`, FOLDER), text, 'npm run dashboards');
}
