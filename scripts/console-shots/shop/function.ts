import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** A function of the shop: replies after `delay` milliseconds. Calls of `/busy` fail twice, those of `/closed` always. */
// oxlint-disable-next-line node/no-process-env -- a function is told there what it was deployed with
const { PORT, delay = "0" } = process.env;
const runs = new Map<string, number>();

createServer((request, response) => {
  void text(request).then((body) => setTimeout(() => response.end(replyTo(request, body)), Number(delay)));

  function replyTo({ headers, method = "", url = "" }: IncomingMessage, body: string): string {
    const id = String(headers["x-call-id"]);
    const run = (runs.get(id) ?? 0) + 1;
    runs.set(id, run);
    const { order = 0, to = "nobody" } = parsed(body);
    if (url.startsWith("/closed") || (url.startsWith("/busy") && run < 3)) {
      console.error(`\u001b[31merror\u001b[0m receipt ${order} not sent: 421 too busy, call ${id}`);
      response.statusCode = 503;
      return "the mail server is too busy\n";
    }
    console.log(`\u001b[32minfo\u001b[0m  ${method} ${url} ${order}, call ${id}`);
    response.setHeader("Content-Type", "application/json");
    return `${JSON.stringify({ order, to, state: "accepted", currency: "EUR", total: order / 10 }, undefined, 2)}\n`;
  }
}).listen(PORT);

function parsed(body: string): { readonly order?: number; readonly to?: string } {
  return body === "" ? {} : (JSON.parse(body) as ReturnType<typeof parsed>);
}
