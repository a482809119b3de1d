import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { readSettings } from "../../../runtime/api/read-settings.ts";
import { checkSettings } from "../../../runtime/host/check-settings.ts";
import { hostSettings } from "../../../runtime/host/settings.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

let place: TempDirectory;
beforeEach(async () => {
  place = await tempDirectory("check-settings");
});
afterEach(() => place.remove());

const settings = (flags: Record<string, string>) => readSettings(hostSettings, { flags });

test("an empty text is no directory and no address; an empty optional one is none", () => {
  expect(() => settings({ data: "", host: "" })).toThrow(
    /host: expected a text, got ""; data: expected a text, got ""/,
  );
  expect(settings({ "nats-server": "" }).natsServer).toBeUndefined();
});

test("certificate and key come together, can be read, and are PEM", async () => {
  const text = join(place.path, "text");
  await writeFile(text, "no certificate");
  const missing = join(place.path, "missing");

  expect(() => checkSettings(settings({ "tls-cert": text }))).toThrow("tls_cert and tls_key: expected both or none");
  expect(() => checkSettings(settings({ "tls-cert": missing, "tls-key": place.path }))).toThrow(
    `tls_cert: expected a file that can be read, got "${missing}" (ENOENT); ` +
      `tls_key: expected a file that can be read, got "${place.path}" (EISDIR)`,
  );
  expect(() => checkSettings(settings({ "tls-cert": text, "tls-key": text }))).toThrow(
    "tls_cert and tls_key: expected PEM files of a certificate and its key",
  );
});
