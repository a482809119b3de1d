import { writeFile } from "node:fs/promises";

import type { Reporter, SerializedError, TestModule, Vitest } from "vitest/node";

/**
 * A reporter of vitest that writes the errors outside of tests, such as a promise that nobody awaited, as JSON to
 * `--outputFile.errors`: vitest's JSON report leaves them out.
 */
export default class ErrorsReporter implements Reporter {
  #file: string | undefined;

  onInit({ config: { outputFile } }: Vitest): void {
    this.#file = typeof outputFile === "object" ? (outputFile as Record<string, string>)["errors"] : outputFile;
  }

  async onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): Promise<void> {
    if (this.#file === undefined) throw new Error("errors-reporter.ts needs --outputFile.errors=<file>");
    await writeFile(this.#file, JSON.stringify(errors.map(describedError)));
  }
}

/** The error as lines: its message, the test that ran meanwhile, and where it was thrown. */
function describedError(error: SerializedError): string {
  const { name = "Error", message, stack = "", VITEST_TEST_NAME: test, VITEST_TEST_PATH: path } = error;
  const during = [path, test].filter((each) => typeof each === "string").join(" ");
  const places = stack.split("\n").filter((line) => line.trim().startsWith("at "));
  return [`${name}: ${message}`, ...(during === "" ? [] : [`during ${during}`]), ...places].join("\n");
}
