import { readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { methodsOf } from "../../runtime/gateway/rest/route.ts";
import { routeTable } from "../../runtime/gateway/rest/route-table.ts";
import { eventually } from "../support/eventually.ts";
import { codeBlocks, commandBlocks, printsAsShown } from "../support/markdown-blocks.ts";
import { walkDocument } from "../support/walk-document.ts";
import { asOf, walkedWeir, walkPage } from "../support/walked-weir.ts";

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const accessLog = ["--access-log", "true"];

/** In a path: any segment. */
const anySegment = "{}";

/** A route's path as the page writes it, without the names of its parameters. */
function shapeOf(path: string): string {
  return path.replaceAll(/:\w+|\*$/g, anySegment);
}

function pathPattern(shape: string): RegExp {
  const parts = shape.split(anySegment).map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join("[^/]+")}$`);
}

/** The request of the first curl command. */
function requestIn(commands: string): { readonly method: string; readonly path: string } | undefined {
  const path = /\bcurl .*?\$G(?<path>\/[^\s"?]*)/m.exec(commands)?.groups?.["path"];
  if (path === undefined) return undefined;
  const method = / -X (?<method>[A-Z]+)/.exec(commands)?.groups?.["method"];
  return { method: method ?? (commands.includes(" -d ") ? "POST" : "GET"), path };
}

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
  const page = read("reference/api.md");
  const blocks = commandBlocks(page);
  const described = page.split("\n").flatMap((text, index) => {
    const operation = /^### `(?<methods>[A-Z ]+) (?<path>\/.*)`$/.exec(text)?.groups;
    if (operation === undefined) return [];
    const { methods = "", path = "" } = operation;
    return [{ line: index + 1, methods, path: path.replaceAll(/\{\w+\}/g, anySegment) }];
  });

  test("describes every documented route, and nothing else", () => {
    const routes = routeTable.filter(({ documented }) => documented !== false);
    const expected = routes.map((route) => `${methodsOf(route).join(" ")} ${shapeOf(route.path)}`);
    expect(described.map(({ methods, path }) => `${methods} ${path}`).toSorted()).toEqual(expected.toSorted());
  });

  test("shows for each of them a command that requests it", () => {
    const shown = described.map(({ line }, index) => {
      const end = described[index + 1]?.line ?? Number.POSITIVE_INFINITY;
      return requestIn(blocks.find((block) => block.line > line && block.line < end)?.commands ?? "");
    });
    const wrong = described.flatMap(({ methods, path }, index) => {
      const request = shown[index];
      const [method] = methods.split(" ");
      return request?.method === method && pathPattern(path).test(request?.path ?? "")
        ? []
        : [{ methods, path, request }];
    });
    expect(wrong).toEqual([]);
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
