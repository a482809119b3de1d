import { existsSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { signingKeyOverlap } from "../../../../runtime/api/iam/signing-keys.ts";
import { rotateSigningKey } from "../../../../runtime/cli/gateways/rotate-signing-key.ts";
import { openPlace } from "../../../../runtime/host/parts/place.ts";
import { hostSettings } from "../../../../runtime/host/settings.ts";
import { Lifecycle } from "../../../../runtime/process/lifecycle.ts";
import { createLog } from "../../../../runtime/process/log.ts";
import { readSettings } from "../../../../runtime/settings/read-settings.ts";
import { eventually } from "../../../support/eventually.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const log = createLog("test", "silent");
let lifecycle: Lifecycle;

beforeEach(() => {
  lifecycle = new Lifecycle(log);
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await lifecycle.close();
});

test("a previous key goes while the host runs, once it is not needed any more", async () => {
  await using data = await tempDirectory("place");
  const flags = { port: "0", "admin-port": "0", "console-port": "0", data: data.path };
  const settings = readSettings(hostSettings, { flags });
  const { layout } = await openPlace({
    settings,
    lifecycle,
    log,
    queues: [],
    say: () => {},
    stop: new AbortController().signal,
    countUnderWay: () => {},
  });
  await rotateSigningKey(layout.credentials, "tokens");
  const isThere = () => existsSync(join(layout.credentials, "issuer-key-previous.pem"));
  expect(isThere()).toBe(true);
  vi.advanceTimersByTime(signingKeyOverlap + 3_600_000);
  await eventually(() => !isThere(), { what: "the previous key to go" });
  await lifecycle.close();
});
