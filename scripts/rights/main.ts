import { writeOrCheck } from "../written-file.ts";
import { rightsFiles } from "./rights-files.ts";

/** Writes the list of each account's rights; with `--check` it only reports stale files, and then exits with 1. */
await writeOrCheck(await rightsFiles(), new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run rights",
});
