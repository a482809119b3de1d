import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The sheet of the chart package: the only one that is not ours. */
const chartSheet = "node_modules/uplot/dist/uPlot.min.css";
const ownSheets = "runtime/console/styles/*.css";
/** Names the layers in their order; the sheets themselves may then come in any. */
const first = "layers.css";

/** All sheets of the console as one, without comments and indentation. */
export async function joinSheets(root: string): Promise<string> {
  const own = (await Array.fromAsync(glob(ownSheets, { cwd: root }))).toSorted(byRank);
  const texts = await Promise.all(own.map((path) => readFile(join(root, path), "utf8")));
  const chart = await readFile(join(root, chartSheet), "utf8");
  const [layers = "", ...others] = texts;
  return [layers, `@layer charts{${withoutLegend(chart)}}`, ...others].map(withoutSpace).join("");
}

/** The charts have a legend of our own, and no title. */
function withoutLegend(sheet: string): string {
  return sheet.replaceAll(/[^{}]*\.u-(?:legend|inline|series|title)\b[^{}]*\{[^}]*\}/g, "");
}

function byRank(one: string, other: string): number {
  return Number(other.endsWith(`/${first}`)) - Number(one.endsWith(`/${first}`)) || (one < other ? -1 : 1);
}

/** Strings of our sheets have no comment and no two spaces in them. */
function withoutSpace(sheet: string): string {
  return sheet
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,>]) ?/g, "$1")
    .replaceAll(/: /g, ":")
    .replaceAll(/(?<=[ ,:(-])0\.(?=\d)/g, ".")
    .replaceAll(";}", "}")
    .trim();
}
