import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";

import { latin1 } from "./fuzz-target.ts";

/** A committed input; for a find, with the sentence of its failure. */
export interface CorpusEntry {
  readonly input: Uint8Array;
  readonly find?: string;
}

const directory = join(import.meta.dirname, "..", "..", "test", "fuzz-corpus");

/** One JSON object per line; `input` has one character per byte. */
function fileOf(target: string): string {
  return join(directory, `${target}.jsonl`);
}

/** The committed inputs of a target, in the order they were added; none if it has no file. */
export async function readCorpus(target: string): Promise<readonly CorpusEntry[]> {
  const text = await readFile(fileOf(target), "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { input, find } = JSON.parse(line) as { input: string; find?: string };
      return { input: Buffer.from(input, "latin1"), ...(find === undefined ? {} : { find }) };
    });
}

/** Adds inputs to a target's committed ones. */
export async function addToCorpus(target: string, entries: readonly CorpusEntry[]): Promise<void> {
  const lines = entries.map((entry) => `${formatEntry(entry)}\n`);
  if (lines.length > 0) await appendFile(fileOf(target), lines.join(""));
}

/** The line of an entry in its file, in ASCII. */
export function formatEntry({ input, find }: CorpusEntry): string {
  const json = JSON.stringify({ ...(find === undefined ? {} : { find }), input: latin1(input) });
  return json.replaceAll(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
