import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { openBasicAuth } from "../../../runtime/gateway/access/basic-auth.ts";
import { openCliHome } from "../../support/cli-home.ts";
import { openScriptedGateway, replyWith } from "../../support/scripted-gateway.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const minute = 60_000;

/** The gateway's own rule, whose clock a test sets: what the command does in the minute after too many wrong passwords. */
async function throttledGateway(directory: string, now: () => number) {
  const auth = openBasicAuth(directory, now);
  return openScriptedGateway((response, { headers }) => {
    try {
      auth.check(headers.authorization, "127.0.0.1");
      replyWith(response, 200, {});
    } catch (err) {
      if (!(err instanceof PlatformError)) throw err;
      const { code, message: detail } = err;
      const status = code === "too_many_logins" ? 429 : 401;
      replyWith(response, status, { code, detail }, { "content-type": "application/problem+json" });
    }
  });
}

test("login after 20 wrong passwords is exit code 5 for the rest of the minute and stores nothing, then signs in", async () => {
  await using secrets = await tempDirectory("cli-throttle");
  await writeFile(join(secrets.path, "basic-auth-user"), "admin");
  await writeFile(join(secrets.path, "basic-auth-password"), "right");
  let time = 0;
  await using gateway = await throttledGateway(secrets.path, () => time);
  await using person = await openCliHome();
  const stored = join(person.home, ".config", "weir", "credentials.yaml");
  const login = (password: string) => person.run(["login", gateway.url, "--password-stdin"], { input: password });

  const wrong = await login("wrong");
  expect(wrong).toMatchObject({ code: 4, stdout: "" });
  expect(wrong.stderr).toContain('user "admin" or the password is wrong');
  const headers = { authorization: `Basic ${Buffer.from("admin:wrong").toString("base64")}` };
  for (let attempt = 1; attempt < 20; attempt++) await (await fetch(`${gateway.url}/system/info`, { headers })).text();
  const refused = {
    code: 5,
    stdout: "",
    stderr: "Cannot check credentials: this address sent too many wrong ones\n",
  };
  expect(await login("right")).toEqual(refused);
  time = minute - 1;
  expect(await login("right")).toEqual(refused);
  await expect(access(stored)).rejects.toThrow("ENOENT");

  time = minute;
  expect(await login("right")).toEqual({ code: 0, stdout: "", stderr: expect.stringContaining("Signed in to") });
  const kept = await readFile(stored, "utf8");
  expect(kept).toContain("right");

  // Of a person who is signed in: what is stored stays through such a minute.
  for (let attempt = 0; attempt < 20; attempt++) await (await fetch(`${gateway.url}/system/info`, { headers })).text();
  expect(await login("other")).toEqual(refused);
  expect(await readFile(stored, "utf8")).toBe(kept);
});
