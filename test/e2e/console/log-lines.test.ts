import { expect, test } from "vitest";

import { writtenEvent } from "../../support/console/console-front.ts";
import type { ConsoleWeir } from "../../support/console/console-weir.ts";
import { describeFrontedConsole } from "../../support/console/opened-console.ts";

/** As many in each frame, 12, as are more than the list renders beyond those in sight. */
const together = 432;
const times = 4;
const options = { prepare: ({ deploy }: ConsoleWeir) => deploy({ service: "hello", envProcess: "cat" }) };

describeFrontedConsole("the page of a log", options, (opened) => {
  test("shows the last of many lines that come at once, each time", async () => {
    const { front, page } = opened();
    let send: ((event: string, data: object) => void) | undefined;
    // Before the page has its parts, it watches less.
    front.replace(/^GET \/system\/watch\?.*log/, (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      send = (event, data) => void response.write(writtenEvent([event, data]));
      send("hello", { release: "0.1.0", apiVersion: "1.0", time: new Date().toISOString() });
    });
    await page.goto("/ui/f/functions/hello/logs");
    await expect.poll(() => send !== undefined).toBe(true);
    for (let time = 0; time < times; time += 1) {
      const records = Array.from({ length: together }, (_, index) => ({
        name: "hello",
        namespace: "functions",
        instance: "hello-1-0",
        timestamp: new Date(Date.UTC(2026, 0, 31) + time * together + index).toISOString(),
        text: `line ${index + 1} of ${together}, time ${time + 1}\n`,
      }));
      send?.("log", { on: "log:functions:hello", begin: time === 0, records, skipped: 0 });
      await page.getByText(`line ${together} of ${together}, time ${time + 1}`).waitFor();
    }
    expect(await page.getByRole("button", { name: /^Follow/ }).count()).toBe(0);
    await page.goto("about:blank");
  });
});
