import { formattedFile, writeOrCheck } from "../written-file.ts";
import { projectFile } from "./project-file.ts";

/** Writes `Pulumi.yaml`; with `--check` it only says when it is stale, and ends with code 1 then. */
await writeOrCheck([await formattedFile("Pulumi.yaml", projectFile())], new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run stack-keys",
});
