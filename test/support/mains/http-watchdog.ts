import { spawn } from "node:child_process";
import { createServer, request as send } from "node:http";
import { env } from "node:process";

/**
 * Stands in for an image with the family's HTTP watchdog: it starts the program `fprocess`, whose words are separated
 * by spaces, once, and forwards requests to it at `upstream_url`. It serves `/_/health` and `/_/ready` itself, with the
 * counts so far.
 */
const { fprocess = "", port = "8080", upstream_url: upstream = "http://127.0.0.1:5000" } = env;
const [program = "", ...args] = fprocess.split(" ");
let connections = 0;

const child = spawn(program, args, { stdio: "inherit" });
child.once("exit", (code) => process.exit(code ?? 1));
process.once("SIGTERM", () => child.kill());

const server = createServer((request, response) => {
  const { url = "/", method = "GET", headers } = request;
  if (url === "/_/health" || url === "/_/ready") {
    response.end(JSON.stringify({ starts: 1, connections }));
    return;
  }
  const forwarded = send(new URL(url, upstream), { method, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(response);
  });
  forwarded.once("error", () => response.writeHead(502).end());
  request.pipe(forwarded);
});
server.on("connection", () => (connections += 1));
server.listen(Number(port));
