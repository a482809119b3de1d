import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

let directory: TempDirectory;
let platform: Platform;
let hanging: FunctionServer;

/** Calls may last 1.5 s, queued ones 6 s. */
beforeAll(async () => {
  directory = await tempDirectory("exec-timeout");
  const config = join(directory.path, "weir.yaml");
  await writeFile(config, "queues:\n  default:\n    timeout: 6s\n    retry: {attempts: 0}\n");
  platform = await openPlatform({ upstreamTimeout: 1_500, slots: 8, doctorFlags: ["--config", config] });
  hanging = await openFunctionServer(() => undefined);
});
afterAll(async () => {
  await platform?.close();
  await hanging?.close();
  await directory?.remove();
});

const deploy = (execTimeout: string) =>
  fetch(`${platform.url}/system/functions`, {
    method: "PUT",
    headers: { authorization: platform.authorization },
    body: JSON.stringify({ service: "bounded", image: "none", envVars: { exec_timeout: execTimeout } }),
  });

test("exec_timeout above both limits is refused with both named, up to the longer one it is accepted", async () => {
  const refused = await deploy("6001ms");
  expect(refused.status).toBe(400);
  expect(await refused.text()).toBe(
    'Cannot deploy function "bounded": exec_timeout 6s1ms is above upstream_timeout (1s500ms) and the timeout of queue "default" (6s); set annotation com.service.timeout to 6s1ms or more\n',
  );
  expect((await deploy("6s")).status).toBe(202);
  expect((await deploy("0")).status).toBe(202);
});

test.each([
  // exec_timeout, the limit of a call and its name, the limit of a run; seconds.
  ["200ms", 1.2, "exec_timeout", 1.2],
  ["1s", 1.5, "upstream_timeout", 2],
  ["6s", 1.5, "upstream_timeout", 6],
  ["0", 1.5, "upstream_timeout", 6],
])("with exec_timeout %s a call ends after %d s by %s, a queued run after %d s", async (text, call, name, run) => {
  const service = `for-${text}`;
  await platform.deploy(service, { addresses: [hanging.address], envVars: { exec_timeout: text } });
  const id = await platform.calls.accepted(service);
  const started = performance.now();
  const response = await fetch(`${platform.url}/function/${service}`);
  const took = (performance.now() - started) / 1_000;
  expect(response.status).toBe(504);
  expect(await response.text()).toContain(`no reply within ${name} of ${call} s`);
  expect(took).toBeGreaterThan(call - 0.05);

  const record = await platform.calls.ended(id);
  expect(record).toMatchObject({ state: "failed", attempts: [{ status: 504 }] });
  expect(record.attempts[0]?.durationSeconds).toBeGreaterThan(run - 0.05);
  expect(record.attempts[0]?.durationSeconds).toBeLessThan(run + 3);
});
