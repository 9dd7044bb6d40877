import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { useTempFolders } from '@berth/testing/folders';
import { choosePorts, type StackPorts } from '../src/stack-ports.js';
import { findFreeBlock } from './stack/find-free-block.js';

const tempFolder = useTempFolders();

const allOf = ({ agents, operations, routers, ...others }: StackPorts): readonly number[] => [
  ...Object.values(others),
  ...Object.values(operations),
  ...agents.flatMap(({ bridge, operations: operationsPort }) => [bridge, operationsPort]),
  ...routers.flatMap(({ http, operations: operationsPort }) => [http, operationsPort]),
];

describe('the ports of a stack', () => {
  test('are a block of ten, behind which each further router has two', async () => {
    const first = await findFreeBlock(14);
    const ports = await choosePorts({ first, routers: 3, hosts: 1 }, await tempFolder());
    expect(ports).toMatchObject({ managementApi: first, postgres: first + 5 });
    expect(ports.routers).toEqual([
      { http: first + 1, operations: first + 8 },
      { http: first + 10, operations: first + 11 },
      { http: first + 12, operations: first + 13 },
    ]);
    expect([...allOf(ports)].sort((one, other) => one - other)).toEqual(
      Array.from({ length: 14 }, (_, index) => first + index),
    );
  });

  test('of further hosts lie behind those of further routers', async () => {
    const first = await findFreeBlock(16);
    const ports = await choosePorts({ first, routers: 2, hosts: 3 }, await tempFolder());
    expect(ports.routers).toHaveLength(2);
    expect(ports.agents).toEqual([
      { bridge: first + 2, operations: first + 9 },
      { bridge: first + 12, operations: first + 13 },
      { bridge: first + 14, operations: first + 15 },
    ]);
    expect(new Set(allOf(ports)).size).toBe(16);
  });

  test('of which one of a further router is in use are refused with that port', async () => {
    const first = await findFreeBlock(12);
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(first + 11, '127.0.0.1', resolve));
    const chosen = choosePorts({ first, routers: 2, hosts: 1 }, await tempFolder());
    await expect(chosen).rejects.toThrow(
      `BERTH_PORTS: port ${first + 11} is in use by another program (${first} to ${first + 11} are needed)`,
    );
    await new Promise((resolve) => blocker.close(resolve));
  });

  test('that were found stay the same when routers come and go', async () => {
    const home = await tempFolder();
    const one = await choosePorts({ first: 'auto', routers: 1, hosts: 1 }, home);
    const three = await choosePorts({ first: 'auto', routers: 3, hosts: 1 }, home);
    expect({ ...three, routers: three.routers.slice(0, 1) }).toEqual(one);
    expect(new Set(allOf(three)).size).toBe(14);
    const two = await choosePorts({ first: 'auto', routers: 2, hosts: 1 }, home);
    expect({ ...three, routers: three.routers.slice(0, 2) }).toEqual(two);
  });
});
