import { afterEach, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openLedger } from "../support/ledger.ts";
import { sendLoad } from "../support/load.ts";
import { settleAccount } from "../support/platform-account.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { recordRuns } from "../support/record-runs.ts";
import { tempDirectory } from "../support/temp-directory.ts";

let platform: Platform | undefined;
let server: FunctionServer | undefined;

afterEach(async () => {
  await platform?.close();
  await server?.close();
  platform = undefined;
  server = undefined;
});

describe("a gateway that goes away under load", () => {
  test("SIGTERM: unready at once, answers to the end, leaves nothing unanswered", async () => {
    const opened = (platform = await openPlatform({ slots: 16, gatewayFlags: ["--shutdown-delay", "3s"] }));
    await using directory = await tempDirectory("ledger");
    const writer = openLedger(directory.path, "function");
    const sender = openLedger(directory.path, "sender");
    const working = (server = await openFunctionServer(recordRuns(writer, (_request, response) => response.end())));
    await opened.deploy("working", { addresses: [working.address] });
    const stop = new AbortController();
    const load = sendLoad({
      gateway: opened.url,
      functionName: "working",
      rate: 100,
      count: 1_000,
      ledger: sender,
      signal: stop.signal,
    });
    await eventually(() => working.requests.length > 50, { within: 5_000, what: "the platform to be busy" });

    const stopping = opened.gateway.stop();
    await eventually(async () => (await opened.probe(opened.gateway, "/readyz")) === 503, {
      within: 2_000,
      every: 5,
      what: "the gateway to be unready",
    });
    expect((await opened.calls.queue("working")).headers.get("connection")).toBe("close");
    // Whoever distributes the load sees that and turns to others, well before the port closes.
    const runs = working.requests.length;
    await eventually(() => working.requests.length > runs + 10, {
      within: 1_000,
      every: 5,
      what: "calls during the delay",
    });
    stop.abort();
    const { sent } = await load;
    expect(sent.filter(({ class: answer }) => answer !== "accepted")).toEqual([]);
    expect((await stopping).code).toBe(0);
    await opened.gateway.start();

    const { violations } = await settleAccount(opened, { directory: directory.path, within: 12_000 });
    expect(violations).toEqual([]);
    writer.close();
    sender.close();
  });

  test("SIGKILL: what was accepted runs once, and what is unknown runs once when it is sent again", async () => {
    const opened = (platform = await openPlatform({ slots: 16 }));
    await using directory = await tempDirectory("ledger");
    const writer = openLedger(directory.path, "function");
    const sender = openLedger(directory.path, "sender");
    const working = (server = await openFunctionServer(recordRuns(writer, (_request, response) => response.end())));
    await opened.deploy("working", { addresses: [working.address] });
    const sent = [];
    for (let kill = 0; kill < 3; kill += 1) {
      const runs = working.requests.length;
      const load = sendLoad({ gateway: opened.url, functionName: "working", rate: 400, count: 200, ledger: sender });
      await eventually(() => working.requests.length > runs + 20, {
        within: 5_000,
        every: 1,
        what: "the platform to be busy",
      });
      await opened.gateway.kill();
      sent.push(...(await load).sent);
      await opened.gateway.start();
    }
    const unknown = sent.filter(({ class: answer }) => answer === "unknown");
    for (const { id } of unknown) expect(await opened.calls.accepted("working", { id, body: "" })).toBe(id);
    for (const { id } of unknown) expect((await opened.calls.ended(id)).state).toBe("done");

    const { counts, violations } = await settleAccount(opened, { directory: directory.path, within: 12_000 });
    expect(violations).toEqual([]);
    expect(counts.accepted).toBeGreaterThan(50);
    const runs = Map.groupBy(working.requests, (request) => request.headers["x-call-id"]);
    for (const { id } of unknown) expect(runs.get(id)).toHaveLength(1);
    writer.close();
    sender.close();
  });
});
