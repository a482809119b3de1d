import { relative } from "node:path";

import type { VitestReport } from "./count-results.ts";

/** Lines of a failure's message that are shown; the suite's own output has the rest. */
const linesShown = 12;

/** Each failed test, or file without one, of a suite: where it stands and the start of what it says. */
export function listFailures(suite: string, root: string, report: VitestReport | undefined): readonly string[] {
  if (report === undefined) return [`${suite}: did not come to an end`];
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = `${suite} ${relative(root, name)}`;
    const failed = assertionResults.filter((result) => result.status === "failed");
    if (failed.length === 0) return status === "failed" ? [described(file, [message])] : [];
    return failed.map(({ fullName, failureMessages }) => described(`${file}: ${fullName}`, failureMessages));
  });
}

/** Each test of a suite that failed and passed when it was tried again, with the start of what it said first. */
export function listSecondTries(suite: string, root: string, report: VitestReport | undefined): readonly string[] {
  return (report?.testResults ?? []).flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
      .map(({ fullName, failureMessages }) =>
        described(`${suite} ${relative(root, name)}: ${fullName}`, failureMessages),
      ),
  );
}

function described(what: string, messages: readonly string[]): string {
  const lines = messages
    .join("\n")
    .split("\n")
    .filter((line) => line.trim() !== "");
  return [what, ...lines.slice(0, linesShown).map((line) => `    ${line}`)].join("\n");
}
