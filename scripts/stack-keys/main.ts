import { formattedFile, writeOrCheck } from "../written-file.ts";
import { projectFile } from "./project-file.ts";

/** Writes `Pulumi.yaml`; with `--check` it only reports that it is stale, and then exits with 1. */
await writeOrCheck([await formattedFile("Pulumi.yaml", projectFile())], new URL("../../", import.meta.url), {
  check: process.argv.includes("--check"),
  command: "npm run stack-keys",
});
