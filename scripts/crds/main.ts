import { writeOrCheck } from "../written-file.ts";
import { definitionFiles } from "./definition-files.ts";

/**
 * Writes the definitions of the custom resources; with `--check` it only reports stale files, and then exits with 1.
 */
await writeOrCheck(await definitionFiles(), new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run crds",
});
