import { writeOrCheck } from "../written-file.ts";
import { writtenFiles } from "./written-files.ts";

/** Writes what follows from the settings; with `--check` it only says what is stale, and ends with code 1 then. */
await writeOrCheck(await writtenFiles(), new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run settings-doc",
});
