import { expect, test } from "vitest";

import { LogStreams } from "../../runtime/gateway/rest/log-streams.ts";
import { eventually } from "../support/eventually.ts";
import { MemoryAuditTrail } from "../support/memory/memory-audit-trail.ts";
import { openTestConsole } from "../support/test-console.ts";

/** A trail that says how often it was read. */
class CountedTrail extends MemoryAuditTrail {
  reads = 0;

  override read(...asked: Parameters<MemoryAuditTrail["read"]>): ReturnType<MemoryAuditTrail["read"]> {
    this.reads += 1;
    return super.read(...asked);
  }
}

test("log streams count together, on both listeners and of both kinds, and are refused before anything is read", async () => {
  const audit = new CountedTrail();
  const logStreams = new LogStreams({ heartbeat: 15_000 });
  await using opened = await openTestConsole({ app: { audit, logStreams } });
  const { platform } = opened;
  const { authorization } = platform;
  await platform.call("PUT", "/system/functions", { service: "hello", image: "a" });
  const paths = ["/system/logs?name=hello&follow=1", "/system/audit?follow=1"];
  const ask = (listener: number, path: string): Promise<Response> => {
    const headers = { authorization, accept: "application/json" };
    return listener === 0 ? platform.call("GET", path, undefined, headers) : opened.send("GET", path, headers);
  };

  const places = Array.from({ length: 199 }, () => logStreams.begin());
  const leaving = new AbortController();
  const { signal } = leaving;
  const last = await fetch(`${platform.url}${paths[0]}`, { headers: { authorization }, signal });
  expect(last.status).toBe(200);
  await eventually(() => platform.logs.readers === 1, { what: "the last stream" });
  for (const listener of [0, 1]) {
    for (const path of paths) {
      const refused = await ask(listener, path);
      expect([path, refused.status, refused.headers.get("retry-after")]).toEqual([path, 429, "2"]);
      expect(JSON.parse(await refused.text())).toMatchObject({ code: "too_many_streams" });
    }
  }
  expect([platform.logs.queries.length, audit.reads]).toEqual([1, 0]);

  // One that fails before it begins to send leaves no place taken.
  places[0]?.[Symbol.dispose]();
  for (let count = 0; count < 3; count += 1) expect((await ask(0, "/system/logs?name=nope")).status).toBe(404);
  leaving.abort();
  await eventually(() => platform.logs.readers === 0, { what: "the end of the last stream" });
  for (const path of ["/system/logs?name=hello", "/system/audit"]) expect((await ask(1, path)).status).toBe(200);
});
