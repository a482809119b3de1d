import { fileURLToPath } from "node:url";

import { writeOrCheck } from "../written-file.ts";
import { testsPage } from "./tests-page.ts";

/** Writes the list of tests; with `--check` it only reports that it is stale, and then exits with 1. */
const root = new URL("../../", import.meta.url);
await writeOrCheck([await testsPage(fileURLToPath(root))], root, {
  check: process.argv.includes("--check"),
  command: "npm run tests-doc",
});
