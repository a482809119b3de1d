import { usageError } from "../../cli-error.ts";
import type { Located } from "../../project/located.ts";
import { problemsError } from "../../project/problem.ts";
import { withMerged, type SourceDocument } from "./source-document.ts";

/** Most bytes of a file. */
export const mostSourceBytes = 5 * 1024 * 1024;

/** Begins a document wherever it stands at the beginning of a line. */
const marker = /^---(?=\s|$)/gm;

/**
 * The documents of a YAML file, without empty ones.
 * @throws CliError with file, line and column, when it cannot be read
 */
export async function readSource(text: string, file: string): Promise<readonly SourceDocument[]> {
  if (Buffer.byteLength(text) > mostSourceBytes)
    throw usageError(`Cannot read "${file}": it is over ${mostSourceBytes} bytes`);
  const { readLocated } = await import("../../project/read-located.ts");
  const starts = [0, ...[...text.matchAll(marker)].map(({ index }) => index)];
  const documents: SourceDocument[] = [];
  let comments = "";
  for (const [index, start] of starts.entries()) {
    const part = text.slice(start, starts[index + 1]);
    const { root, problems } = readLocated(part);
    if (problems.length > 0)
      throw problemsError(
        file,
        text,
        problems.map((each) => ({ ...each, at: each.at + start })),
      );
    if (root === undefined || (root.kind === "scalar" && root.value === null)) {
      comments += part;
    } else {
      documents.push({ file, root: shifted(withMerged(root), start), comments: comments + part.slice(0, root.at) });
      comments = "";
    }
  }
  return documents;
}

/** The same value in a text that begins `by` characters earlier. */
function shifted(located: Located, by: number): Located {
  const at = located.at + by;
  switch (located.kind) {
    case "scalar":
      return { ...located, at };
    case "list":
      return { ...located, at, items: located.items.map((item) => shifted(item, by)) };
    case "map": {
      const entries = [...located.entries].map(
        ([key, { keyAt, value }]) => [key, { keyAt: keyAt + by, value: shifted(value, by) }] as const,
      );
      return { ...located, at, entries: new Map(entries) };
    }
    default:
      return located satisfies never;
  }
}
