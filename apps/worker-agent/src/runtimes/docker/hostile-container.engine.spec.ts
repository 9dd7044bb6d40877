import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useContainerEngine } from '@berth/testing/containers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import Dockerode from 'dockerode';
import { POLICY, openDocker } from '../../../test/open-docker.js';
import { makeOutsideWorld, type OutsideWorld } from '../../../test/outside-world.js';
import type { ContainerStart } from '../container-runtime.port.js';
import { containerName } from './container-options.js';
import type { DockerRuntime } from './docker-runtime.js';

const TEST_TIMEOUT_MS = 240_000;
const ENDS = { deadlineMs: 90_000 };
const MIB = 1024 * 1024;
const HOSTILE = 'berth-test/hostile:1';
const W1 = 'w1' as WorkerId;
const W2 = 'w2' as WorkerId;
const SHOW_STACK = 10;

const run = promisify(execFile);
const iptables = (...words: readonly string[]): Promise<{ readonly stdout: string }> =>
  run('/usr/sbin/iptables', ['--wait', '-t', 'mangle', ...words]);
const fixture = useContainerEngine({ hasBaseImage: true });
const connection = (): Dockerode => new Dockerode({ socketPath: fixture.engine.socketPath });

/** Which of the places answer TCP, as the container's program prints it. */
const REACH = `
import socket, sys
from concurrent.futures import ThreadPoolExecutor
def reach(place):
    host, port = place.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
        return place + " open"
    except OSError:
        return place + " closed"
places = sys.argv[1:]
print("\\n".join(ThreadPoolExecutor(16).map(reach, places)))
`;

let world: OutsideWorld;
let runtime: DockerRuntime;
let server: Server;
let metrics: MetricRegistry;
let port = 0;
/** Closed after each test, however it ends. */
const extras: Server[] = [];

const startOf = (workerId: WorkerId, program: string, ...args: readonly string[]): ContainerStart => ({
  labels: {
    hostId: 'host9' as HostId,
    workerId,
    endpointId: 'endpoint1' as EndpointId,
    release: 1,
    image: HOSTILE,
  },
  args: [program, ...args],
  env: {},
  limits: { vcpus: 2, memoryBytes: 256 * MIB, diskBytes: 20e9 },
  gpu: null,
});

/** Runs a program in a worker's container to its end, and returns what it printed. */
async function outputOf(program: string, ...args: readonly string[]): Promise<readonly string[]> {
  await runtime.start(startOf(W1, program, ...args));
  await eventually(async () => expect((await runtime.inspect(W1))?.state.kind).toBe('ended'), ENDS);
  const lines = await runtime.logs(W1, 50);
  await runtime.remove(W1);
  return lines;
}
const reach = (...places: readonly string[]): Promise<readonly string[]> => outputOf(REACH, ...places);
const closed = (places: readonly string[]): readonly string[] => places.map((place) => `${place} closed`);

async function listening(made: Server, at: number, host: string): Promise<Server> {
  extras.push(made);
  await once(made.listen(at, host), 'listening');
  return made;
}

/** Whether this machine itself reaches a place: what nobody reaches shows nothing. */
const hostReaches = async (address: string): Promise<boolean> =>
  (await fetch(`http://${address}/`, { signal: AbortSignal.timeout(5_000) })).ok;

/** How many connections the kernel remembers for the whole machine. */
const connectionsOfHost = async (): Promise<number> =>
  Number(await readFile('/proc/sys/net/netfilter/nf_conntrack_count', 'utf8'));

// Nested, so that all of it is gone before its engine is.
describe('docker', () => {
  beforeAll(async () => {
    const container = await connection().createContainer({ Image: 'berth/python-base:bookworm', Cmd: ['true'] });
    await container.commit({ repo: 'berth-test/hostile', tag: '1', changes: 'ENTRYPOINT ["python3", "-u", "-c"]' });
    await container.remove();
    world = await makeOutsideWorld();
    metrics = new MetricRegistry();
    const confinement = { ...POLICY, nameServers: [world.publicAddress, world.hostAddress] };
    runtime = await openDocker(fixture.engine.socketPath, 'host9', { confinement, metrics });
    // On every address of the host: what stands between a container and it is not where it listens.
    server = await listening(
      createServer((_, response) => response.end('host')),
      0,
      '0.0.0.0',
    );
    extras.pop();
    port = (server.address() as AddressInfo).port;
  }, TEST_TIMEOUT_MS);
  afterEach(async () => {
    for (const extra of extras.splice(0)) extra.close();
    for (const { labels } of await runtime.list()) await runtime.remove(labels.workerId);
    await runtime.network.confine(port);
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await runtime.network.remove();
    await runtime.close();
    await world.remove();
  }, TEST_TIMEOUT_MS);

  describe('a hostile container', () => {
    test(
      'does not reach its neighbour, of the same tenant or another',
      async () => {
        const listen = 'import http.server; http.server.test(http.server.SimpleHTTPRequestHandler, port=80)';
        await runtime.start(startOf(W2, listen));
        const { NetworkSettings } = await connection().getContainer(containerName(W2)).inspect();
        const [address] = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress);
        const neighbour = `${String(address)}:80`;
        await eventually(async () => expect(await hostReaches(neighbour)).toBe(true), ENDS);
        expect(await reach(neighbour)).toEqual(closed([neighbour]));
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'reaches its bridge, and no other port or address of its host',
      async () => {
        const others = await listening(createServer(), 0, '0.0.0.0');
        const other = (others.address() as AddressInfo).port;
        const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
        const hosts = addresses.filter(({ family, internal }) => family === 'IPv4' && !internal);
        const bridge = `${runtime.network.listenHost}:${String(port)}`;
        await runtime.network.confine(port);
        const ports = [`${runtime.network.listenHost}:${String(other)}`, `berth-host:${String(other)}`];
        const foreign = hosts.map(({ address }) => `${address}:${String(port)}`).filter((place) => place !== bridge);
        expect(foreign.length).toBeGreaterThan(1);
        expect(await reach(bridge, `berth-host:${String(port)}`, ...ports, ...foreign)).toEqual([
          `${bridge} open`,
          `berth-host:${String(port)} open`,
          ...closed([...ports, ...foreign]),
        ]);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'reaches the internet, but neither metadata nor private networks',
      async () => {
        const { carrierAddress, metadataAddress, privateAddress, publicAddress } = world;
        const forbidden = [metadataAddress, privateAddress, carrierAddress];
        for (const address of [publicAddress, ...forbidden]) expect(await hostReaches(address)).toBe(true);
        const metadata = ['169.254.169.254:80', '169.254.170.2:80', '100.100.100.200:80', '168.63.129.16:80'];
        const places = [...forbidden.map((address) => `${address}:80`), ...metadata];
        expect(await reach(`${publicAddress}:80`, ...places)).toEqual([`${publicAddress}:80 open`, ...closed(places)]);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'asks for names, and reaches nothing else at the host’s name server',
      async () => {
        await listening(createServer(), 53, world.hostAddress);
        expect(await outputOf('import socket; print(socket.gethostbyname("anything.example"))')).toEqual([
          world.publicAddress,
        ]);
        const elsewhere = `${world.hostAddress}:${String(port)}`;
        expect(await reach(`${world.hostAddress}:53`, elsewhere)).toEqual([
          `${world.hostAddress}:53 open`,
          `${elsewhere} closed`,
        ]);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'does not fill the table in which its host remembers connections: not at a time, not by opening and closing',
      async () => {
        // One after the other, so that the limit and not the engine's own of open files is what ends it.
        const program = `
import resource, socket, sys, time
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
def opened(place, most):
    host, port = place.rsplit(":", 1)
    links = []
    try:
        while len(links) < most:
            links.append(socket.create_connection((host, int(port)), timeout=5))
    except OSError:
        pass
    return links
links = opened(sys.argv[1], 2000)
print(len(links))
for link in links: link.close()
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port in range(1, 20001): sender.sendto(b"", (sys.argv[2], port))
print("sent", flush=True)
time.sleep(600)`;
        await runtime.network.confine(port);
        const before = await connectionsOfHost();
        await runtime.start(startOf(W1, program, `berth-host:${String(port)}`, world.publicAddress));
        await eventually(async () => expect((await runtime.logs(W1, 2)).at(-1)).toBe('sent'), ENDS);
        // As many as the bridge serves of one worker, and some that are being closed.
        const links = Number((await runtime.logs(W1, 2))[0]);
        expect(links).toBeGreaterThan(512);
        expect(links).toBeLessThanOrEqual(1_024);
        // Others of this machine open connections too, but not by the thousand.
        expect((await connectionsOfHost()) - before).toBeLessThan(10_000);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'has no IPv6',
      async () => {
        const program = `
import socket
print(open("/proc/net/if_inet6").read().strip())
try:
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect(("fd00:ec2::254", 80))
    print("open")
except OSError:
    print("closed")`;
        expect(await outputOf(program)).toEqual(['', 'closed']);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'gets no raw socket, no device file, no privilege and no mount of its host',
      async () => {
        const program = `
import os, socket, subprocess
def refused(name, attack):
    try:
        attack()
        print(name, "DONE")
    except OSError as error:
        print(name, "refused")
refused("packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
refused("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
refused("device", lambda: os.mknod("/tmp/disk", 0o60600, os.makedev(8, 0)))
refused("kernel settings", lambda: open("/proc/sys/kernel/core_pattern", "w"))
refused("sysrq", lambda: open("/proc/sysrq-trigger", "w"))
own = "/sys/fs/cgroup/memory/memory.limit_in_bytes"
refused("own limits", lambda: open(own if os.path.exists(own) else "/sys/fs/cgroup/memory.max", "w"))
refused("engine", lambda: os.stat("/var/run/docker.sock"))
print("mount", subprocess.run(["mount", "-t", "tmpfs", "none", "/mnt"], stderr=subprocess.DEVNULL).returncode != 0)
print("namespace", subprocess.run(["unshare", "--user", "--map-root-user", "true"], stderr=subprocess.DEVNULL).returncode != 0)
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(status["CapEff"], status["CapBnd"], status["NoNewPrivs"], status["Seccomp"])`;
        expect(await outputOf(program)).toEqual([
          'packets refused',
          'raw refused',
          'device refused',
          'kernel settings refused',
          'sysrq refused',
          'own limits refused',
          'engine refused',
          'mount True',
          'namespace True',
          '00000000a00405fb 00000000a00405fb 1 2',
        ]);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'gains nothing from a program that is root’s by its mode',
      async () => {
        const program = `
import os, shutil, subprocess
shutil.copy("/usr/bin/id", "/tmp/id")
os.chmod("/tmp/id", 0o4755)
os.setgid(65534); os.setuid(65534)
print(subprocess.check_output(["/tmp/id", "-u"], text=True).strip())`;
        expect(await outputOf(program)).toEqual(['65534']);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'forks up to its limit, and ends when it is told to',
      async () => {
        const program = `
import os, resource, threading, time
threading.stack_size(32768)
count = 0
try:
    while count < 20000:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        count += 1
except RuntimeError:
    pass
print(count, flush=True)
time.sleep(600)`;
        await runtime.start(startOf(W1, program));
        const count = await eventually(async () => {
          const [line = ''] = await runtime.logs(W1, 1);
          expect(line).toMatch(/^\d+$/);
          return Number(line);
        }, ENDS);
        expect(count).toBeGreaterThan(1_000);
        expect(count).toBeLessThan(4_096);
        await runtime.kill(W1);
        await eventually(async () => expect((await runtime.inspect(W1))?.state.kind).toBe('ended'), ENDS);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'that takes all memory is ended, and that is told',
      async () => {
        await runtime.start(startOf(W1, 'x = b"1" * (1 << 32)'));
        await eventually(
          async () => expect(await runtime.inspect(W1)).toMatchObject({ state: { exit: { cause: 'out-of-memory' } } }),
          ENDS,
        );
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'that fills its shared memory fills its own memory',
      async () => {
        const program = `
import os
with open("/dev/shm/fill", "wb") as file:
    try:
        while True: file.write(b"1" * (1 << 20))
    except OSError as error:
        print(error.strerror, file.tell() // (1 << 20) <= 128)
        os._exit(0)`;
        expect(await outputOf(program)).toEqual(['No space left on device True']);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'that prints without end keeps no more than its last 30 MB',
      async () => {
        const program = 'import sys\nfor _ in range(1200): sys.stdout.write(("x" * 99 + "\\n") * 600)\nprint("end")';
        await runtime.start(startOf(W1, program));
        await eventually(async () => expect((await runtime.inspect(W1))?.state.kind).toBe('ended'), ENDS);
        const { LogPath } = await connection().getContainer(containerName(W1)).inspect();
        const { stdout } = await run('/bin/sh', ['-c', `du -cb "${LogPath}"* | tail -1 | cut -f 1`]);
        expect(Number(stdout)).toBeLessThan(35e6);
        expect(await runtime.logs(W1, 1)).toEqual(['end']);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'whose disk the engine cannot bound says so',
      async () => {
        await runtime.start(startOf(W1, 'import time; time.sleep(600)'));
        const container = await runtime.inspect(W1);
        const { HostConfig } = await connection().getContainer(containerName(W1)).inspect();
        const isKept = HostConfig.StorageOpt?.['size'] !== undefined;
        expect(container?.notes).toEqual(
          isKept ? [] : [expect.stringMatching(/^The disk limit of 20 GB is not kept: /)],
        );
      },
      TEST_TIMEOUT_MS,
    );
  });

  test(
    'an image that gives files away, becomes another user and listens on port 80 starts',
    async () => {
      const program = `
import os, socket, subprocess
subprocess.run(["chown", "nobody", "/srv"], check=True)
print(os.stat("/srv").st_uid)
print(subprocess.check_output(["su", "nobody", "-s", "/bin/sh", "-c", "touch /srv/mine && id -u"], text=True).strip())
socket.socket().bind(("", 80))
print("listens")`;
      expect(await outputOf(program)).toEqual(['65534', '65534', 'listens']);
    },
    TEST_TIMEOUT_MS,
  );

  describe('the rules of the firewall', () => {
    const chainOf = async (): Promise<string> => {
      const [look] = await connection().listNetworks({ filters: JSON.stringify({ name: [runtime.network.name] }) });
      const name = (look?.Options as Record<string, string>)['com.docker.network.bridge.name'] ?? '';
      return name.replace('berthw-', 'BERTH-');
    };

    test(
      'that somebody flushed are back before the next container, and that is counted',
      async () => {
        const chain = await chainOf();
        const { stdout: whole } = await iptables('-S', chain);
        await iptables('-F', chain);
        await iptables('-I', chain, '-j', 'RETURN');
        const place = `${world.privateAddress}:80`;
        expect(await reach(place)).toEqual(closed([place]));
        expect((await iptables('-S', chain)).stdout).toBe(whole);
        expect(await metrics.text()).toMatch(/berth_agent_confinement_repairs_total 1$/m);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'that somebody flushed are put back by themselves, and cut what was opened meanwhile',
      async () => {
        const program = `
import socket, sys, time
while True:
    try:
        link = socket.create_connection((sys.argv[1], 80), timeout=1)
        break
    except OSError: time.sleep(0.2)
print("open", flush=True)
link.settimeout(1)
while True:
    try:
        fresh = socket.create_connection((sys.argv[1], 80), timeout=1)
        fresh.close()
        time.sleep(0.2)
    except OSError:
        break
try:
    link.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    print("answered" if link.recv(1) else "ended")
except OSError:
    print("cut")`;
        const chain = await chainOf();
        await runtime.start(startOf(W1, program, world.privateAddress));
        // Again where they were back before the container had noticed.
        await eventually(async () => {
          await iptables('-F', chain);
          expect(await runtime.logs(W1, 5)).toEqual(['open']);
        }, ENDS);
        await eventually(async () => expect(await runtime.logs(W1, 5)).toEqual(['open', 'cut']), ENDS);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'of one agent leave those of another alone',
      async () => {
        const other = await openDocker(fixture.engine.socketPath, 'host10');
        const before = (await iptables('-S')).stdout;
        expect(other.network.listenHost).not.toBe(runtime.network.listenHost);
        await other.network.remove();
        await other.close();
        const chain = await chainOf();
        const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line.includes(chain));
        expect(lines((await iptables('-S')).stdout)).toEqual(lines(before));
        const place = `${world.privateAddress}:80`;
        expect(await reach(place)).toEqual(closed([place]));
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'open what the operator allows, but never metadata',
      async () => {
        const confinement = {
          ...POLICY,
          allowedNetworks: [`${world.privateAddress}/32`, '169.254.0.0/16'],
          nameServers: [world.publicAddress],
        };
        // A host of its own: the first one's agent watches the rules of its chain, and would put its own back.
        const other = await openDocker(fixture.engine.socketPath, 'host11', { confinement });
        try {
          const places = [`${world.privateAddress}:80`, `${world.metadataAddress}:80`];
          const { labels, ...start } = startOf(W1, REACH, ...places);
          await other.start({ ...start, labels: { ...labels, hostId: 'host11' as HostId } });
          await eventually(async () => expect((await other.inspect(W1))?.state.kind).toBe('ended'), ENDS);
          expect(await other.logs(W1, SHOW_STACK)).toEqual([
            `${String(places[0])} open`,
            `${String(places[1])} closed`,
          ]);
        } finally {
          await other.remove(W1);
          await other.network.remove();
          await other.close();
        }
      },
      TEST_TIMEOUT_MS,
    );
  });

  test(
    'a container of an agent that had no network of its own is removed, not adopted',
    async () => {
      const labels = {
        'berth.host': 'host9',
        'berth.worker': 'w7',
        'berth.endpoint': 'endpoint1',
        'berth.release': '1',
      };
      const container = await connection().createContainer({
        name: 'berth-w7',
        Image: HOSTILE,
        Cmd: ['import time; time.sleep(600)'],
        Labels: labels,
      });
      await container.start();
      const removed: unknown[] = [];
      const next = await openDocker(fixture.engine.socketPath, 'host9', {
        onRemoving: async (containers) => {
          // It is told while they are there: whoever hears it may be gone before they are.
          const { State } = await container.inspect();
          removed.push({ containers, isRunning: State.Running });
        },
      });
      expect(await next.list()).toEqual([]);
      expect(removed).toEqual([{ containers: [{ workerId: 'w7', containerId: container.id }], isRunning: true }]);
      await next.close();
    },
    TEST_TIMEOUT_MS,
  );
});
