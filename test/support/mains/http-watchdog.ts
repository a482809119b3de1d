import { spawn } from "node:child_process";
import { createServer, request as send } from "node:http";
import { env } from "node:process";

/**
 * Stands for an image with the family's HTTP watchdog: the program `fprocess`, words separated by blanks, is started once and
 * gets every request at `upstream_url`. `/_/health` and `/_/ready` are the watchdog's own, and count what has happened so far.
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
  const passed = send(new URL(url, upstream), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  passed.once("error", () => response.writeHead(502).end());
  request.pipe(passed);
});
server.on("connection", () => (connections += 1));
server.listen(Number(port));
