import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

/** Read at every request, so that a changed secret counts at once. */
async function expectedAuthorization(): Promise<string> {
  const file = join(process.env["SERVICE_SECRETS_DIR"] ?? "/var/service/secrets", "bearer-token");
  return `Bearer ${(await readFile(file, "utf8")).trim()}`;
}

/** Compares in a time that tells nothing about either text. */
function same(one: string, other: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const allowed = same(request.headers.authorization ?? "", await expectedAuthorization());
  response
    .writeHead(allowed ? 200 : 401, {
      "Content-Type": "text/plain",
      ...(allowed ? {} : { "WWW-Authenticate": "Bearer" }),
    })
    .end(allowed ? "Welcome.\n" : "Send the right bearer token.\n");
}

const server = createServer((request, response) => {
  answer(request, response).catch((err: unknown) => {
    console.error(err);
    response.writeHead(500, { "Content-Type": "text/plain" }).end("The secret cannot be read.\n");
  });
});
server.listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => server.close());
