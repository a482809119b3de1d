import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "../../test/support/free-port.ts";
import { portOpen, startBackground, type Server } from "../background.ts";
import { needTool, pinned } from "../tools.ts";

/**
 * Runs nginx with one worker on one core; `http` writes the content of its http block, which listens on the given port.
 * @throws BenchSkipped when nginx is not available
 */
export async function openNginx(core: number, http: (port: number) => string): Promise<Server> {
  const program = needTool("nginx", "nginx-light");
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

/** Configures a server that replies to every request with `body` as text. */
export function tinyFunction(body: string): (port: number) => string {
  return (port) => `server { listen 127.0.0.1:${port}; location / { default_type text/plain; return 200 "${body}"; } }`;
}

/** Configures a server that replies to every request with status 500. */
export function failingFunction(port: number): string {
  return `server { listen 127.0.0.1:${port}; location / { default_type text/plain; return 500 "failed"; } }`;
}

/** Configures a proxy with keep-alive connections to `upstreamPort`; `settings` are added to its server block. */
export function keepAliveProxy(upstreamPort: number, settings = ""): (port: number) => string {
  return (port) => `
    upstream function { server 127.0.0.1:${upstreamPort}; keepalive 128; keepalive_requests 1000000000; }
    server {
      listen 127.0.0.1:${port}; ${settings}
      location / { proxy_pass http://function; proxy_http_version 1.1; proxy_set_header Connection ""; }
    }`;
}
