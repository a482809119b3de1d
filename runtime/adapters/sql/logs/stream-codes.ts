import type { OutputName } from "../../../api/schemas/log-record.ts";

/** As a column of `line` has it; null where it is not known. */
const codes: Readonly<Record<OutputName, number>> = { stdout: 1, stderr: 2 };

/** The value of the column. */
export function streamCode(stream: OutputName | undefined): number | null {
  return stream === undefined ? null : codes[stream];
}

/** The stream of a value; undefined if it is not known. */
export function streamOfCode(code: unknown): OutputName | undefined {
  if (code === null || code === undefined) return undefined;
  return Number(code) === codes.stderr ? "stderr" : "stdout";
}
