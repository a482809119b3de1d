import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { collectSettings, readSettings } from "../../../runtime/settings/read-settings.ts";
import { folderFaultHere, warnings } from "../../../runtime/host/check-settings.ts";
import { hostRules, hostSettings } from "../../../runtime/host/settings.ts";
import { tlsRule } from "../../../runtime/process/file-rules.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

let place: TempDirectory;
beforeEach(async () => {
  place = await tempDirectory("check-settings");
});
afterEach(() => place.remove());

const problems = (flags: Record<string, string>) =>
  collectSettings(hostSettings, { flags }, [...hostRules, tlsRule]).problems;

test("an empty text is no directory and no address; an empty optional setting counts as absent", () => {
  expect(problems({ data: "", host: "" })).toEqual([
    'host: expected a text, got "" (flag --host)',
    'data: expected a text, got "" (flag --data)',
  ]);
  expect(readSettings(hostSettings, { flags: { "nats-server": "" } }).natsServer).toBeUndefined();
});

test("certificate and key must come together, be readable, and be PEM", async () => {
  const text = join(place.path, "text");
  await writeFile(text, "no certificate");
  const missing = join(place.path, "missing");

  expect(problems({ "tls-cert": text })).toEqual(["tls_cert and tls_key: expected both or none"]);
  expect(problems({ "tls-cert": missing, "tls-key": place.path })).toEqual([
    `tls_cert: expected a file that can be read, got "${missing}" (ENOENT)`,
    `tls_key: expected a file that can be read, got "${place.path}" (EISDIR)`,
  ]);
  expect(problems({ "tls-cert": text, "tls-key": text })).toEqual([
    expect.stringContaining("tls_cert and tls_key: expected PEM files of a certificate and its key"),
  ]);
});

test("warns of addresses that others can reach without TLS", () => {
  const own = { host: "127.0.0.1", tlsCert: undefined };
  expect(warnings(own)).toEqual([]);
  expect(warnings({ ...own, host: "0.0.0.0" })).toEqual([expect.stringContaining("--host 0.0.0.0 without TLS")]);
});

test("functions are run from folders only by a gateway that no other machine can reach", async () => {
  const fault = () => Promise.resolve("its state");
  for (const host of ["127.0.0.1", "localhost", "::1"])
    expect(await folderFaultHere({ host }, fault)?.("/srv/hello")).toBe("its state");
  for (const host of ["0.0.0.0", "::", "10.0.0.1"])
    expect(await folderFaultHere({ host }, fault)?.("/srv/hello")).toMatch(
      /^com\.service\.local\.folder needs a gateway /,
    );
  expect(folderFaultHere({ host: "127.0.0.1" }, undefined)).toBeUndefined();
});
