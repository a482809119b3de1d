import { afterEach, expect, test, vi } from "vitest";

import { chooseUpstream } from "../../../../runtime/watchdog/http/upstream-address.ts";
import { freePort } from "../../../support/free-port.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("a port that one watchdog has chosen is no other's, also while nothing listens there", async () => {
  const first = await chooseUpstream(undefined, undefined);
  // The second one comes upon the same port.
  vi.spyOn(Math, "random").mockReturnValueOnce((first.port - 20_000 + 0.5) / 12_000);
  const second = await chooseUpstream(undefined, undefined);

  expect(first.chosen && second.chosen).toBe(true);
  expect(Math.random).toHaveBeenCalled();
  expect(second.port).not.toBe(first.port);
});

test("a fixed port belongs to the watchdog that came first, also while nothing listens there", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;

  expect(await chooseUpstream(url, undefined)).toEqual({ host: "127.0.0.1", port, chosen: false });
  await expect(chooseUpstream(url, undefined)).rejects.toMatchObject({ reason: "PortInUse" });
  await expect(chooseUpstream(undefined, String(port))).rejects.toMatchObject({ reason: "PortInUse" });
});

test("the same port of another address is free", async () => {
  const port = await freePort();

  expect((await chooseUpstream(`http://127.0.0.2:${port}`, undefined)).port).toBe(port);
  expect((await chooseUpstream(`http://127.0.0.3:${port}`, undefined)).port).toBe(port);
});
