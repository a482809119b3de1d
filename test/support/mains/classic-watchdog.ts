import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { env } from "node:process";

/**
 * Stands in for an image with the family's classic watchdog: each request starts the program `fprocess`, whose words
 * are separated by spaces, except that `/_/health` returns the counts so far.
 */
const { fprocess = "", port = "8080" } = env;
const [program = "", ...args] = fprocess.split(" ");
let starts = 0;
let connections = 0;

const server = createServer((request, response) => {
  if (request.url === "/_/health") {
    response.end(JSON.stringify({ starts, connections }));
    return;
  }
  starts += 1;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {});
  request.pipe(child.stdin);
  const output: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
  child.once("close", (code) => response.writeHead(code === 0 ? 200 : 500).end(Buffer.concat(output)));
});
server.on("connection", () => (connections += 1));
server.listen(Number(port));
