import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

/** Each function is told where the gateway is and which namespace it is in; others there are called by name. */
const checksum = `${process.env["GATEWAY_URL"]}/function/checksum.${process.env["SERVICE_NAMESPACE"]}`;

/** One line as `sha256sum` writes it. */
async function lineOf(name: string, content: string): Promise<string> {
  const reply = await fetch(checksum, { method: "POST", body: content });
  const said = await reply.text();
  if (!reply.ok) throw new Error(`function "checksum" answered ${reply.status}: ${said.trim()}`);
  return `${said.split(" ", 1)[0]}  ${name}\n`;
}

function isFiles(value: unknown): value is Record<string, string> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && Object.values(value).every((content) => typeof content === "string");
}

/** `{"<name>": "<content>", …}` in, one line for each file out, in the same order. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const files = await json(request).catch(() => undefined);
  if (!isFiles(files)) {
    response.writeHead(400, { "Content-Type": "text/plain" }).end('POST {"<name>": "<content>", …}\n');
    return;
  }
  const lines = await Promise.all(Object.entries(files).map(([name, content]) => lineOf(name, content)));
  response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" }).end(lines.join(""));
}

const server = createServer((request, response) => {
  answer(request, response).catch((err: unknown) => {
    console.error(err);
    response.writeHead(502, { "Content-Type": "text/plain" }).end("The checksums cannot be had.\n");
  });
});
server.listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => server.close());
