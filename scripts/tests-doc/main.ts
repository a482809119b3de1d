import { fileURLToPath } from "node:url";

import { writeOrCheck } from "../written-file.ts";
import { testsPage } from "./tests-page.ts";

/** Writes the list of tests; with `--check` it only says that it is stale, and ends with code 1 then. */
const root = new URL("../../", import.meta.url);
await writeOrCheck([await testsPage(fileURLToPath(root))], root, {
  check: process.argv.includes("--check"),
  command: "npm run tests-doc",
});
