import { writeOrCheck } from "../written-file.ts";
import { cliPage } from "./cli-page.ts";

/** Writes the page of the command line; with `--check` it only reports that it is stale, and then exits with 1. */
await writeOrCheck([await cliPage()], new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run cli-doc",
});
