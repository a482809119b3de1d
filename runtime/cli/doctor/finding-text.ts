import type { Finding } from "../../api/schemas/doctor-report.ts";
import { escapeLine } from "../output/escape-text.ts";

const levelWidth = "problem".length;
/** Longer subjects push their sentence to the right. */
const mostSubject = 40;

/** A line for each finding, and one with what to do below it; `state` colours a level. */
export function findingText(findings: readonly Finding[], state: (level: string) => string): string {
  const shown = findings.map((finding) => ({ ...finding, subject: escapeLine(finding.subject) }));
  const width = Math.min(mostSubject, Math.max(0, ...shown.map(({ subject }) => subject.length)));
  return shown
    .map(({ level, subject, sentence, advice }) => {
      const space = " ".repeat(Math.max(0, levelWidth - level.length));
      const line = `${state(escapeLine(level))}${space}  ${subject.padEnd(width)}  ${escapeLine(sentence)}\n`;
      return advice === undefined ? line : `${line}${" ".repeat(levelWidth)}  Try: ${escapeLine(advice)}\n`;
    })
    .join("");
}
