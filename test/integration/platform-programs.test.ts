import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { platformProgram, programsVariable } from "../support/platform-programs.ts";

const repository = join(import.meta.dirname, "..", "..");

/** Bytes that a reader gave back early would be read as what they were, and no test would see it (security.md, H11). */
test("processes of a platform overwrite the buffers that are given back, bundled or not", async () => {
  const program =
    "import('#release-buffer').then(({ releaseBuffer }) => { const b = new Uint8Array(1); releaseBuffer(b); console.log(b[0]); })";
  const { NODE_OPTIONS } = environment();
  const { stdout } = await promisify(execFile)(process.execPath, ["--eval", program], {
    cwd: repository,
    env: { NODE_OPTIONS },
  });
  expect(stdout).toBe("221\n");

  if ((environment()[programsVariable] ?? "") === "") return;
  const gateway = await platformProgram("runtime/gateway/main.ts");
  const shared = join(dirname(gateway), "..", "shared");
  const texts = await Promise.all((await readdir(shared)).map((name) => readFile(join(shared, name), "utf8")));
  expect(texts.filter((text) => /\bfill\((?:0xdd|221)\)/.test(text))).toHaveLength(1);
});
