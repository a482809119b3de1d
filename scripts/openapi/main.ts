import { writeOrCheck } from "../written-file.ts";
import { apiFiles } from "./api-files.ts";

/** Writes openapi.json and docs/reference/api.md; with `--check` it only reports stale ones, and then exits with 1. */
await writeOrCheck(await apiFiles(), new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run openapi",
});
