import type { Finding } from "../../api/schemas/doctor-report.ts";

/** Most findings of one check; a platform may have thousands of functions that fail for one reason. */
const most = 20;

/** The worst findings of a check, and one that counts the others; `what` as in `functions`. */
export function mostOf(findings: readonly Finding[], what: string): readonly Finding[] {
  const sorted = [
    ...findings.filter(({ level }) => level === "problem"),
    ...findings.filter(({ level }) => level !== "problem"),
  ];
  const [next] = sorted.slice(most);
  if (next === undefined) return sorted;
  const left = sorted.length - most;
  return [
    ...sorted.slice(0, most),
    {
      id: next.id,
      level: next.level,
      subject: `${left} more ${what}`,
      sentence: "They have findings of this check, too, which are not listed",
      advice: "act on the others first",
    },
  ];
}
