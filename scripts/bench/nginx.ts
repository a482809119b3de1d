import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { portOpen, startBackground } from "./background.ts";
import { pinned } from "./tools.ts";

/** An nginx of the bench: one worker, nothing but what it is measured for. */
export interface Nginx {
  readonly port: number;
  close(): Promise<void>;
}

/** Runs nginx on one core with `http` inside its http block; the server listens on `$port`. */
export async function openNginx(program: string, core: number, http: (port: number) => string): Promise<Nginx> {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), "weir-bench-"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${directory}/${kind};`,
  );
  const config = `
    daemon off; master_process off; worker_processes 1; pid ${directory}/pid; error_log ${directory}/error.log;
    events { worker_connections 4096; }
    http { access_log off; keepalive_requests 1000000000; ${temporary.join(" ")} ${http(port)} }
  `;
  writeFileSync(join(directory, "nginx.conf"), config);
  const server = startBackground(
    pinned(core, [program, "-p", directory, "-c", "nginx.conf", "-e", join(directory, "error.log")]),
  );
  const close = async (): Promise<void> => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await portOpen(port);
  } catch (err) {
    await close();
    throw err;
  }
  return { port, close };
}

/** A tiny function: answers everything with `body`, as text. */
export function tinyFunction(body: string): (port: number) => string {
  return (port) => `server { listen 127.0.0.1:${port}; location / { default_type text/plain; return 200 "${body}"; } }`;
}

/** A proxy with kept connections to `upstreamPort`. */
export function keepAliveProxy(upstreamPort: number): (port: number) => string {
  return (port) => `
    upstream function { server 127.0.0.1:${upstreamPort}; keepalive 128; keepalive_requests 1000000000; }
    server {
      listen 127.0.0.1:${port};
      location / { proxy_pass http://function; proxy_http_version 1.1; proxy_set_header Connection ""; }
    }`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
