import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { importFiles, type ImportResult } from "../../runtime/cli/moves/import/import-files.ts";

/** Directory of the samples: OpenFaaS stack files and custom resources after its public documentation. */
export const sampleDirectory = fileURLToPath(new URL("import-samples", import.meta.url));

/** A file that one of the samples names, and no sample. */
const besides = "environment.yml";

/** Names of the samples. */
export async function sampleNames(): Promise<readonly string[]> {
  return (await readdir(sampleDirectory)).filter((name) => name !== besides).toSorted();
}

export async function readSample(name: string): Promise<string> {
  return readFile(`${sampleDirectory}/${name}`, "utf8");
}

/** What becomes of a sample when weir.yaml is written beside it. */
export async function importSample(name: string, renameKeys = false): Promise<ImportResult> {
  return importText(await readSample(name), renameKeys, name);
}

/** What becomes of a text as a file beside the samples. */
export async function importText(text: string, renameKeys = false, file = "stack.yml"): Promise<ImportResult> {
  return importFiles([{ file, text, directory: sampleDirectory }], { directory: sampleDirectory, renameKeys });
}
