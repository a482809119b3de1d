import { createServer } from "node:http";
import { env } from "node:process";
import { text } from "node:stream/consumers";

/** Replies to one call. Change this. */
async function reply(request) {
  const body = await text(request);
  return `Hello, ${body || "world"}!\n`;
}

async function serve(request, response) {
  if (request.url === "/_/ready" || request.url === "/_/health") {
    response.end("OK\n");
    return;
  }
  const callId = request.headers["x-call-id"] ?? "-";
  try {
    const body = await reply(request);
    response.setHeader("Content-Type", "text/plain; charset=utf-8");
    response.end(body);
  } catch (err) {
    console.error(callId, err);
    response.statusCode = 500;
    response.end("Cannot reply\n");
  }
  console.log(callId, request.method, request.url, response.statusCode);
}

const server = createServer((request, response) => void serve(request, response));

server.listen(Number(env.PORT ?? 8080), env.HOST, () => {
  console.log(`listening on port ${server.address().port}`);
});

// Calls that have begun are replied to; then the process ends.
process.on("SIGTERM", () => server.close());
