import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allocatePorts, findDebianProgram, makeTempFolder, spawnServer } from '@berth/servers';

/** A reverse proxy with one process that works. */
export interface Nginx {
  /** It keeps its connections to the worker. */
  readonly keptOrigin: string;
  /** It makes a connection to the worker for each request. */
  readonly freshOrigin: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** @throws CommandError why there is none */
export const findNginx = (): Promise<string> =>
  findDebianProgram({ packageName: 'nginx', path: 'usr/sbin/nginx', versionFlag: '-v' });

/** In front of whoever listens at `origin`. */
export async function startNginx(executable: string, origin: string): Promise<Nginx> {
  const folder = await makeTempFolder('berth-bench-nginx-');
  const reserved = await allocatePorts(2);
  const [kept = 0, fresh = 0] = reserved.ports;
  await reserved.release();
  const conf = join(folder.path, 'nginx.conf');
  await writeFile(conf, confOf({ folder: folder.path, origin, kept, fresh }));
  const server = await spawnServer({
    name: 'nginx',
    executable,
    args: ['-p', folder.path, '-c', conf, '-e', join(folder.path, 'error.log')],
    folder: folder.path,
    logFile: join(folder.path, 'nginx.log'),
    pidFile: join(folder.path, 'spawned.pid'),
    stopSignal: 'SIGTERM',
  });
  return {
    keptOrigin: `http://127.0.0.1:${kept}`,
    freshOrigin: `http://127.0.0.1:${fresh}`,
    pid: server.pid,
    stop: async () => {
      await server.stop();
      await folder.remove();
    },
  };
}

interface Conf {
  readonly folder: string;
  readonly origin: string;
  readonly kept: number;
  readonly fresh: number;
}

/** Bodies go through as they come, as at a router: with its defaults nginx would write those of 1 MB to disk first. */
function confOf({ folder, fresh, kept, origin }: Conf): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${folder}/${name};`,
  );
  const way = (port: number, connection: string): string => `
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / { proxy_pass http://worker_${port}; proxy_set_header Connection "${connection}"; }
    location /socket {
      proxy_pass http://worker_${port};
      proxy_set_header Connection upgrade;
      proxy_set_header Upgrade $http_upgrade;
    }
  }`;
  const worker = new URL(origin).host;
  return `
# Who starts as root works as root: the folder is its own.
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_max_body_size 0;
  keepalive_requests 1000000;
  proxy_http_version 1.1;
  proxy_request_buffering off;
  proxy_max_temp_file_size 0;
${temporary.join('\n')}
  upstream worker_${kept} { server ${worker}; keepalive 128; keepalive_requests 1000000; }
  upstream worker_${fresh} { server ${worker}; }
${way(kept, '')}
${way(fresh, 'close')}
}
`;
}
