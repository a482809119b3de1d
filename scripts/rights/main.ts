import { writeOrCheck } from "../written-file.ts";
import { rightsFiles } from "./rights-files.ts";

/** Writes the list of each account's rights; with `--check` it only says what is stale, and ends with code 1 then. */
await writeOrCheck(await rightsFiles(), new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run rights",
});
