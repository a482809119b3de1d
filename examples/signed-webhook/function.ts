import { createHmac, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";

/** Where accepted events go: the queue of another function, so that the sender need not wait. */
const work = `${process.env["GATEWAY_URL"]}/async-function/checksum.${process.env["SERVICE_NAMESPACE"]}`;
const secrets = process.env["SERVICE_SECRETS_DIR"] ?? "/var/service/secrets";

/** Whether `signature` is that of these very bytes; compared in a time that tells nothing about the right one. */
async function isSigned(body: Buffer, signature: string): Promise<boolean> {
  // Read at every request, so that a changed secret counts at once.
  const secret = (await readFile(join(secrets, "webhook-secret"), "utf8")).trim();
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const sent = Buffer.from(signature);
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** A delivery that is sent again has the same id: it is queued, and runs, once. */
async function queue(body: Buffer, deliveryId: string): Promise<string> {
  const response = await fetch(work, { method: "POST", body, headers: { "X-Call-Id": deliveryId } });
  if (response.status !== 202)
    throw new Error(`the queue replied ${response.status}: ${(await response.text()).trim()}`);
  return response.headers.get("X-Call-Id") ?? deliveryId;
}

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const header = (name: string) => String(request.headers[name] ?? "");
  const body = await buffer(request);
  if (!(await isSigned(body, header("x-hub-signature-256")))) {
    response.writeHead(401, { "Content-Type": "text/plain" }).end("The signature is not that of this body.\n");
    return;
  }
  const callId = await queue(body, header("x-github-delivery"));
  response.writeHead(202, { "Content-Type": "application/json" }).end(`${JSON.stringify({ queued: callId })}\n`);
}

const server = createServer((request, response) => {
  reply(request, response).catch((err: unknown) => {
    console.error(err);
    // The sender tries again.
    response.writeHead(503, { "Content-Type": "text/plain" }).end("The event cannot be taken now.\n");
  });
});
server.listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => server.close());
