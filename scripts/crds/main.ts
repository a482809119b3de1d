import { writeOrCheck } from "../written-file.ts";
import { definitionFiles } from "./definition-files.ts";

/** Writes the definitions of the custom resources; with `--check` it only says what is stale, and ends with code 1 then. */
await writeOrCheck(await definitionFiles(), new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run crds",
});
