import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { findSecrets } from "../../scripts/secret-scan/find-secrets.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Of the kind that services issue; in parts, as this repository is scanned, too. */
const token = ["ghp", "_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("");

test("a secret that was committed once is found, even if it was removed since, and not shown", async () => {
  await using directory = await tempDirectory("secret-scan");
  const git = (...args: readonly string[]): void => {
    const who = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    execFileSync("git", [...who, ...args], { cwd: directory.path, stdio: "ignore" });
  };
  const commit = (file: string, text: string): void => {
    writeFileSync(join(directory.path, file), text);
    git("add", "--all");
    git("commit", "--message=change");
  };
  git("init", "--initial-branch=main");
  commit("plain.txt", "hello\nhttp://user:secret@example.com\n");
  writeFileSync(join(directory.path, "picture.bin"), Buffer.from([0, 1, 2]));
  expect(await findSecrets(directory.path)).toEqual({ texts: 1, found: [] });

  git("checkout", "-b", "side");
  commit("settings.txt", `first\ntoken = ${token}\n`);
  commit("settings.txt", "first\n");
  git("checkout", "main");
  const { texts, found } = await findSecrets(directory.path);
  expect(texts).toBe(3);
  expect(found).toEqual([
    {
      path: "settings.txt",
      line: 2,
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
      rule: expect.stringContaining("github"),
    },
  ]);
  expect(JSON.stringify(found)).not.toContain(token);
});

test("a directory without a repository is refused", async () => {
  await using directory = await tempDirectory("secret-scan");
  await expect(findSecrets(directory.path)).rejects.toThrow("not a git repository");
});
