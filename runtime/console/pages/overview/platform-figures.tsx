import { useComputed } from "@preact/signals";

import type { DoctorReport } from "../../../api/schemas/doctor-report.ts";
import type { DoctorEvent } from "../../../api/schemas/watch/watch-topics.ts";
import { pageLink } from "../../data/address/page-links.ts";
import { useConsole } from "../../data/console-context.ts";
import type { ListedFunctions } from "../../data/functions/listed-functions.ts";
import { useLastEvent } from "../../data/stream/use-topic.ts";
import { countOf, countWords, rateWords, shareWords } from "../../data/words/number-words.ts";
import { Figures } from "../../parts/texts/sentence.tsx";
import type { Tone } from "../../parts/texts/state-badge.tsx";
import { useQueueDepth } from "./use-queue-depth.ts";

/** What all functions do together, and whether the platform is well. */
export function PlatformFigures({ functions }: { readonly functions: ListedFunctions }) {
  const { session } = useConsole();
  const depth = useQueueDepth();
  const doctor = useLastEvent<DoctorEvent>(session.may("System:Doctor") ? "doctor" : undefined);
  const rates = useComputed(() => {
    void functions.changes.value;
    let [calls, errors] = [0, 0];
    for (const cell of functions.cells.values()) {
      calls += cell.peek().calls ?? 0;
      errors += cell.peek().errors ?? 0;
    }
    return { calls, errors };
  });
  const { calls, errors } = rates.value;
  const problems = problemsOf(doctor.value.event?.report);
  return (
    <Figures
      rows={[
        { name: "Calls/s", value: rateWords(calls) },
        {
          name: "Errors",
          value: shareWords(errors, calls),
          ...(errors > 0 ? { tone: "bad" as const } : {}),
        },
        ...(session.may("Queue:List")
          ? [
              {
                name: "In queues",
                value: <a href={pageLink.queues}>{depth.value === undefined ? "–" : countWords(depth.value)}</a>,
              },
            ]
          : []),
        ...(problems === undefined
          ? []
          : [{ name: "Doctor", value: <a href={pageLink.system}>{problems.words}</a>, tone: problems.tone }]),
      ]}
    />
  );
}

/** What the doctor found, in two words. */
export function problemsOf(
  report: DoctorReport | undefined,
): { readonly words: string; readonly tone: Tone } | undefined {
  if (report === undefined) return undefined;
  const count = (level: string): number => report.findings.filter((finding) => finding.level === level).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  if (problems > 0) return { words: countOf(problems, "problem"), tone: "bad" };
  if (warnings > 0) return { words: countOf(warnings, "warning"), tone: "warn" };
  return { words: "All well", tone: "good" };
}
