import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { marked } from "marked";

/** Answers the Markdown in the body as HTML. The input's own HTML is passed on: send it only what you trust. */
async function render(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") {
    response.writeHead(405, { Allow: "POST", "Content-Type": "text/plain" }).end("POST some Markdown\n");
    return;
  }
  const html = await marked.parse(await text(request));
  response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(html);
}

const server = createServer((request, response) => {
  render(request, response).catch((err: unknown) => {
    console.error(err);
    response.destroy();
  });
});
server.listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => server.close());
