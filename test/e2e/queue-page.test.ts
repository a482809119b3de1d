import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { commandBlocks } from "../support/markdown-blocks.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { walkedWeir, walkPage } from "../support/walked-weir.ts";

const [settings, start, ...blocks] = commandBlocks(
  readFileSync(new URL("../../docs/calls-and-queues.md", import.meta.url), "utf8"),
);
/** The settings file that the page writes. */
const written = /^cat >weir\.yaml <<'END'\n([^]*\n)END$/.exec(settings?.commands ?? "")?.[1] ?? "";

describe("docs/calls-and-queues.md", () => {
  const opened: { directory?: TempDirectory } = {};
  beforeAll(async () => void (opened.directory = await tempDirectory("queue-page")));
  afterAll(() => opened.directory?.remove());

  const walked = walkedWeir("queue-page", async () => {
    const config = join(opened.directory?.path ?? "", "weir.yaml");
    await writeFile(config, written);
    return { flags: ["--provider", "local", "--config", config] };
  });

  test("begins with settings, and npm start that reads them", () => {
    expect(written).toContain("reports:");
    expect(start?.commands).toBe("npm start -- --provider local --config weir.yaml");
  });

  walkPage(blocks, walked);
});
