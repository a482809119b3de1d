import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { routeTable } from "../../runtime/gateway/route-table.ts";
import { commandBlocks } from "../support/markdown-blocks.ts";
import { walkDocument } from "../support/walk-document.ts";
import { walkedWeir } from "../support/walked-weir.ts";

const page = readFileSync(new URL("../../docs/api.md", import.meta.url), "utf8");
const blocks = commandBlocks(page);

/** Each command of the page, one after the other in one shell, against a platform of its own. */
describe("docs/api.md", () => {
  const walked = walkedWeir("api-page", { flags: ["--provider", "local"], within: 60_000 });

  test("has a command for every path of the route table", () => {
    const paths = new Set(routeTable.filter(({ documented }) => documented !== false).map(({ path }) => path));
    expect(blocks.length).toBeGreaterThan(paths.size);
  });

  walkDocument(blocks, () => {
    const { shell, weir } = walked();
    const asHere = (text: string) =>
      text.replaceAll("http://127.0.0.1:8080", weir.url).replaceAll(".weir/", `${weir.data}/`);
    return { shell, asHere };
  });
});
