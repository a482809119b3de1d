import { readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { routeTable } from "../../runtime/gateway/rest/route-table.ts";
import { eventually } from "../support/eventually.ts";
import { codeBlocks, commandBlocks, printsAsShown } from "../support/markdown-blocks.ts";
import { walkDocument } from "../support/walk-document.ts";
import { asOf, walkedWeir, walkPage } from "../support/walked-weir.ts";

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const accessLog = ["--access-log", "true"];

/** Pages whose commands are compatible: all use one Weir. */
const walked = walkedWeir("pages", { flags: ["--provider", "local", ...accessLog], within: 60_000 });

/** The next page expects only its own functions. */
async function removeFunctions(): Promise<void> {
  const { weir } = walked();
  const headers = { authorization: weir.authorization };
  const list = async (): Promise<readonly { readonly name: string }[]> => {
    const response = await fetch(`${weir.url}/system/functions`, { headers });
    return (await response.json()) as readonly { readonly name: string }[];
  };
  for (const { name } of await list()) {
    const body = JSON.stringify({ functionName: name });
    await fetch(`${weir.url}/system/functions`, { method: "DELETE", headers, body });
  }
  await eventually(async () => (await list()).length === 0, { what: "the end of all functions" });
}

/** Comes first: it shows counts since the start. */
describe("docs/reference/metrics-and-logs.md", () => {
  afterAll(removeFunctions);

  const page = read("reference/metrics-and-logs.md");
  const [start, ...blocks] = commandBlocks(page);

  test("begins with the flag that the test starts Weir with", () => {
    expect(start?.commands).toBe(`npm start -- ${accessLog.join(" ")}`);
  });

  walkPage(blocks, walked);

  test("the line of the access log is as shown", async () => {
    const shown = codeBlocks(page).find(({ language }) => language === "json")?.text ?? "";
    await eventually(
      () =>
        walked()
          .weir.output()
          .split("\n")
          .some((line) => line.includes(':"0af7') && printsAsShown(line, shown)),
      { what: `a line like ${shown}` },
    );
    expect(walked().weir.output()).not.toContain("token=secret");
  });
});

describe("docs/reference/api.md", () => {
  const blocks = commandBlocks(read("reference/api.md"));

  test("has a command for every path of the route table", () => {
    const paths = new Set(routeTable.filter(({ documented }) => documented !== false).map(({ path }) => path));
    expect(blocks.length).toBeGreaterThan(paths.size);
  });

  walkPage(blocks, walked);
});

describe("docs/functions.md", () => {
  const [start, ...blocks] = commandBlocks(read("functions.md"));
  // The user of the function reads files here.
  beforeAll(() => chmod(walked().directory.path, 0o755));
  afterAll(removeFunctions);

  test("begins with npm start", () => {
    expect(start?.commands).toBe("npm start -- --provider local");
  });

  walkDocument(blocks, () => {
    const { directory, shell, weir } = walked();
    return { shell, asHere: (text) => asOf(weir, text.replaceAll("/tmp/weir-", `${directory.path}/weir-`)) };
  });
});
