import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { release } from "../api/version.ts";
import { environment } from "../process/settings.ts";

const timeout = 1_000;
/** Directory that holds the checkout, if this is one. */
const parent = join(import.meta.dirname, "..", "..", "..");

/** The running release, with its commit if this is a checkout and git is installed. */
export async function releaseInfo(): Promise<{
  readonly release: string;
  readonly sha: string;
  readonly commit_message: string;
}> {
  try {
    const { stdout } = await promisify(execFile)("git", ["log", "-1", "--format=%H%n%s"], {
      cwd: import.meta.dirname,
      // An installed package may lie in somebody else's repository.
      env: { ...environment(), GIT_CEILING_DIRECTORIES: parent },
      timeout,
    });
    const [sha = "", subject = ""] = stdout.trim().split("\n");
    if (sha !== "" && subject !== "") return { release, sha, commit_message: subject };
  } catch {
    // Without git or a checkout, the release is enough.
  }
  return { release, sha: `v${release}`, commit_message: `Weir ${release}` };
}
