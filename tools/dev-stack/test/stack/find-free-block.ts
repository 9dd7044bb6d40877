import { allocatePorts, reservePortBlock } from '@berth/servers';

/** A first port with so many free ones behind it, as nobody else had them a moment ago. */
export async function findFreeBlock(count: number): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const any = await allocatePorts(1);
    await any.release();
    const first = Math.min(any.ports[0] ?? 0, 65_535 - count);
    const block = await reservePortBlock(first, count);
    await block?.release();
    if (block !== undefined) return first;
  }
  throw new Error(`no ${count} free ports in a row`);
}
