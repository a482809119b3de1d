import { writeOrCheck } from "../written-file.ts";
import { writtenFiles } from "./written-files.ts";

/** Writes what is generated from the settings; with `--check` it only reports stale files, and then exits with 1. */
await writeOrCheck(await writtenFiles(), new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run settings-doc",
});
