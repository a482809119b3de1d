import { expect, test } from "vitest";

import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { MemoryCallQueue } from "../support/memory/memory-call-queue.ts";
import { openMemoryAsyncInvoker } from "../support/memory-async-invoker.ts";
import { openSyncGateway } from "../support/sync-gateway.ts";
import { sendVerbatim } from "../support/verbatim-request.ts";

/** Browsers send the cookies of the console to functions of the same host, too, and take cookies from these. */
const sent = ["Cookie", "theme=dark; weir-session=secret; lang=de", "Cookie", "__Host-weir=secret; weir-login=secret"];

test("a function neither gets a session's cookie nor sets one", async () => {
  const seen = await openFunctionServer((_request, response) => {
    response.setHeader("Set-Cookie", [
      "weir-session=mine; Path=/system",
      "theme=light",
      "__Host-weir=mine; Path=/; Secure",
    ]);
    response.end("ok");
  });
  const gateway = await openSyncGateway();
  try {
    gateway.deploy("shop", { addresses: [seen.address] });
    const reply = await sendVerbatim(gateway.port, { target: "/function/shop", headers: sent });
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([200, ["theme=light"]]);
    expect(seen.requests.map(({ headers }) => headers["cookie"])).toEqual(["theme=dark; lang=de"]);
  } finally {
    await gateway.close();
    await seen.close();
  }
});

test("nor does a queued call carry one", async () => {
  const queued: QueuedCall[] = [];
  class SeenQueue extends MemoryCallQueue {
    override put(...given: Parameters<MemoryCallQueue["put"]>): ReturnType<MemoryCallQueue["put"]> {
      queued.push(given[0]);
      return super.put(...given);
    }
  }
  const gateway = await openSyncGateway({ invokeAsync: (...call) => invokeAsync(...call) });
  const invokeAsync = openMemoryAsyncInvoker(gateway.table, { calls: new SeenQueue({ ackWait: 60_000 }) });
  try {
    gateway.deploy("shop");
    const reply = await sendVerbatim(gateway.port, { method: "POST", target: "/async-function/shop", headers: sent });
    expect(reply.status).toBe(202);
    const [{ headers }] = queued as [QueuedCall];
    expect(headers.filter((_, index) => headers[index - 1]?.toLowerCase() === "cookie")).toEqual([
      "theme=dark; lang=de",
    ]);
    expect(headers.join()).not.toContain("secret");
  } finally {
    await gateway.close();
  }
});
