import type { Finding } from "../../../api/schemas/doctor-report.ts";
import type { Tone } from "../../parts/texts/state-badge.tsx";

const tones: Readonly<Record<Finding["level"], Tone>> = { problem: "bad", warning: "warn", ok: "good" };
const levels = Object.keys(tones) as readonly Finding["level"][];

/** Findings, the worst first, otherwise in their order. */
export function worstFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
}

/** A level that a newer gateway knows counts as a warning. */
export function toneOf({ level }: Pick<Finding, "level">): Tone {
  return (tones as Readonly<Record<string, Tone>>)[level] ?? "warn";
}
