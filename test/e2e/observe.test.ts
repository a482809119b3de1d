import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { codeBlocks, commandBlocks, printsAsShown } from "../support/markdown-blocks.ts";
import { openShell, type ShellSession } from "../support/shell-session.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { walkDocument } from "../support/walk-document.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const document = readFileSync(new URL("../../docs/observe.md", import.meta.url), "utf8");
const [start, ...walk] = commandBlocks(document);

describe("docs/observe.md", () => {
  const opened: { directory?: TempDirectory; weir?: WeirProcess; shell?: ShellSession } = {};

  beforeAll(async () => {
    opened.directory = await tempDirectory("observe");
    opened.weir = await startWeir({ data: opened.directory.path, flags: ["--access-log", "true"] });
    opened.shell = openShell({ directory: fileURLToPath(new URL("../..", import.meta.url)) });
  });
  afterAll(async () => {
    await opened.shell?.close();
    await opened.weir?.close();
    await opened.directory?.remove();
  });

  test("begins with the flag that the test starts Weir with", () => {
    expect(start?.commands).toBe("npm start -- --access-log true");
  });

  walkDocument(walk, () => {
    const { shell, weir } = opened;
    if (shell === undefined || weir === undefined) throw new Error("Cannot walk through: Weir did not start");
    const asHere = (text: string): string =>
      text
        .replaceAll("http://127.0.0.1:8080", weir.url)
        .replaceAll("http://127.0.0.1:8082", weir.adminUrl)
        .replaceAll(".weir/", `${weir.data}/`);
    return { shell, asHere };
  });

  test("the line of the access log is as shown", async () => {
    const shown = codeBlocks(document).find(({ language }) => language === "json")?.text ?? "";
    await eventually(
      () =>
        (opened.weir?.output() ?? "").split("\n").some((line) => line.includes(':"0af7') && printsAsShown(line, shown)),
      { within: 5_000, what: `a line like ${shown}` },
    );
    expect(opened.weir?.output()).not.toContain("token=secret");
  });
});
