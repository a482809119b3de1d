import { expect, test } from "vitest";

import { MemoryUsage } from "../support/memory/memory-usage.ts";
import { openRestPlatform } from "../support/rest-platform.ts";

const hello = { namespace: "functions", name: "hello" };

test("usage is shown on request, if it is known", async () => {
  const usage = new MemoryUsage();
  await using platform = await openRestPlatform({ usage });
  await platform.call("POST", "/system/functions", { service: "hello", image: "example/hello:1" });
  const shown = async (query: string): Promise<object> => {
    const response = await platform.call("GET", `/system/function/hello${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as object;
  };

  expect(await shown("?usage=1")).not.toHaveProperty("usage");
  usage.set(hello, { cpu: 12, totalMemoryBytes: 34_000_000 });
  expect(await shown("?usage=1")).toMatchObject({ name: "hello", usage: { cpu: 12, totalMemoryBytes: 34_000_000 } });
  for (const query of ["", "?usage=0", "?usage=maybe"]) expect(await shown(query)).not.toHaveProperty("usage");
});
