import { expect, test } from "vitest";

import { folderFailure, prepareFailure } from "../../../../runtime/core/folders/folder-failure.ts";

test("names the folder and its state", () => {
  expect(folderFailure("/srv/hello", "it holds too much")).toEqual({
    reason: "FolderUnusable",
    message: 'Cannot run the function from folder "/srv/hello": it holds too much',
  });
});

test("shows the last lines of a preparation, safe for a terminal", () => {
  const written = ["first", ...Array.from({ length: 8 }, (_, line) => `line ${line}`), "", " "];
  const { reason, message } = prepareFailure('"npm ci" ended with code 1', [
    ...written,
    "\u001b[31mred\u001b[0m\u0007",
  ]);
  const lines = [1, 2, 3, 4, 5, 6, 7].map((line) => `line ${line}`);
  expect(reason).toBe("PrepareFailed");
  expect(message).toBe(
    ['Cannot prepare the function: "npm ci" ended with code 1; its last lines:', ...lines, "red "].join("\n").trimEnd(),
  );
});

test("cuts long lines, and says nothing of lines that are not there", () => {
  expect(prepareFailure("it failed", ["x".repeat(500)]).message).toHaveLength(
    "Cannot prepare the function: it failed; its last lines:\n".length + 200,
  );
  expect(prepareFailure("it failed", [""]).message).toBe("Cannot prepare the function: it failed");
});
