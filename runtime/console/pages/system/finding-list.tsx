import type { DoctorReport, Finding } from "../../../api/schemas/doctor-report.ts";
import { countOf } from "../../data/words/number-words.ts";
import { Panel } from "../../parts/layout/panel.tsx";
import { Sentence } from "../../parts/texts/sentence.tsx";
import { Shown } from "../../parts/texts/shown.tsx";
import { StateBadge } from "../../parts/texts/state-badge.tsx";
import { Time } from "../../parts/texts/time.tsx";
import { toneOf, worstFirst } from "./finding-order.ts";

/** What the doctor finds, the worst first, each with what to do about it. */
export function FindingList({ report: { checkedAt, findings } }: { readonly report: DoctorReport }) {
  const sorted = worstFirst(findings);
  const bad = sorted.filter(({ level }) => level !== "ok");
  const good = sorted.filter(({ level }) => level === "ok");
  const problems = bad.filter(({ level }) => level === "problem").length;
  return (
    <Panel
      title="Findings"
      aside={
        <span class="muted">
          checked <Time at={checkedAt} />
        </span>
      }
    >
      <Sentence
        tone={problems > 0 ? "bad" : bad.length > 0 ? "warn" : "good"}
        state={problems > 0 ? countOf(problems, "problem") : bad.length > 0 ? countOf(bad.length, "warning") : "well"}
      >
        {bad.length === 0 ? `All ${countOf(good.length, "check")} are well` : "What has to be done is below each"}
      </Sentence>
      {bad.length > 0 && <Findings findings={bad} />}
      {good.length > 0 && (
        <details open={bad.length === 0}>
          <summary>{countOf(good.length, "check")} found nothing wrong</summary>
          <Findings findings={good} />
        </details>
      )}
    </Panel>
  );
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <ul class="findings">
      {findings.map((finding) => {
        const { id, level, subject, sentence, advice } = finding;
        return (
          <li key={`${id} ${subject} ${sentence}`}>
            <p>
              <StateBadge tone={toneOf(finding)}>{level}</StateBadge>
              <strong>
                <Shown text={subject} />
              </strong>
              : <Shown text={sentence} />
            </p>
            {advice !== undefined && (
              <p>
                What to do: <Shown text={advice} />
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}
