import { expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { openPlatform } from "../support/platform.ts";

const away = "the broker does not answer: no call is accepted or ended until it does";

test("every process that is started without a broker logs it, waits, and works when it is there", async () => {
  await using platform = await openPlatform();
  const echo = await openFunctionServer();
  await platform.deploy("echo", { addresses: [echo.address] });
  const { doctor, gateway, worker } = platform;
  const autoscaler = platform.add("autoscaler");
  const processes = [doctor, gateway, worker, autoscaler];
  await Promise.all(processes.map((process) => process.kill()));
  await platform.server.stop();

  const starting = Promise.all(processes.map((process) => process.start()));
  for (const process of processes) {
    // None of them logged it before.
    await eventually(() => process.log.some(({ msg }) => msg === away), {
      what: `${process.name} to say that it waits`,
    });
    expect(process.running).toBe(true);
  }
  await platform.server.restart();
  await starting;
  const id = await platform.calls.accepted("echo");
  expect((await platform.calls.ended(id)).state).toBe("done");
  for (const process of processes) expect(await platform.probe(process, "/readyz")).toBe(200);
  await echo.close();
});
