import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { environment } from "../../runtime/process/settings.ts";
import { tempDirectory } from "./temp-directory.ts";

/** Programs of a test's own, which are found before those of this machine. */
export interface FakePrograms extends AsyncDisposable {
  /** Their directory, before the usual ones. */
  readonly path: string;
  /** Only their directory. */
  readonly only: string;
  /** A directory for what they write; `$STATE` in the scripts. */
  readonly state: string;
}

/** Makes programs of scripts for `sh`, by their names. */
export async function fakePrograms(scripts: Readonly<Record<string, string>>): Promise<FakePrograms> {
  const { path, remove } = await tempDirectory("programs");
  const state = join(path, "state");
  await mkdir(state);
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(path, name), `#!/bin/sh\nSTATE=${state}\n${script}\n`);
    await chmod(join(path, name), 0o755);
  }
  return { path: `${path}:${environment()["PATH"] ?? ""}`, only: path, state, [Symbol.asyncDispose]: remove };
}
