import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";

import type { DoctorReport } from "../../../api/schemas/doctor-report.ts";
import type { CallPageView } from "../../../api/schemas/history/call-page.ts";
import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import type { DoctorEvent } from "../../../api/schemas/watch/watch-topics.ts";
import { useConsole } from "../../data/console-context.ts";
import { useLoaded, type Loaded } from "../../data/requests/use-loaded.ts";
import { useLastEvent } from "../../data/stream/use-topic.ts";
import { durationWords } from "../../data/time/duration-words.ts";
import { countOf } from "../../data/words/number-words.ts";
import { LoadedView } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import { CopyButton, SameCommand } from "../../parts/texts/copy.tsx";
import { Facts } from "../../parts/texts/sentence.tsx";
import { Code, Shown } from "../../parts/texts/shown.tsx";
import { FindingList } from "./finding-list.tsx";
import { PartTable } from "./part-table.tsx";
import { systemReport } from "./report-text.ts";

/** What this platform is, what it runs on, and what the doctor finds. */
export function SystemPage() {
  const { requests, session } = useConsole();
  const info = useLoaded("info", (signal) =>
    requests.get<SystemInfo>("/system/info", { signal, act: "read what this platform is" }),
  );
  const mayDoctor = session.may("System:Doctor");
  const read = useLoaded(`doctor ${mayDoctor}`, async (signal) =>
    mayDoctor ? requests.get<DoctorReport>("/system/doctor", { signal, act: "read the findings" }) : undefined,
  );
  const told = useLastEvent<DoctorEvent>(mayDoctor ? "doctor" : undefined);
  const doctor = useComputed((): Loaded<DoctorReport | undefined> => {
    const { event, at } = told.value;
    const before = read.state.value;
    return event === undefined || at < before.readAt
      ? before
      : { ...before, value: event.report, failure: undefined, since: undefined };
  });
  const report = doctor.value.value;
  return (
    <>
      <PageHead title="System">
        {report !== undefined && (
          <CopyButton label="Copy a report" text={systemReport(info.state.value.value, report)} />
        )}
      </PageHead>
      <Panel title="This platform">
        <LoadedView state={info.state} what="what this platform is">
          {(known) => <PlatformFacts info={known} />}
        </LoadedView>
      </Panel>
      {mayDoctor && (
        <LoadedView state={doctor} what="the findings">
          {(known) =>
            known !== undefined && (
              <>
                <FindingList report={known} />
                <PartTable parts={known.parts} />
              </>
            )
          }
        </LoadedView>
      )}
      <SameCommand command="weir doctor" />
    </>
  );
}

function PlatformFacts({ info }: { readonly info: SystemInfo }) {
  const { session } = useConsole();
  const { version, provider, arch, edition, apiVersion, durability, functionNamespace, iam } = info;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    ["Release", <Shown key="release" text={`${version.release} (${version.sha.slice(0, 12)})`} />],
    ["API", apiVersion],
    ["Edition", edition],
    ["Functions run by", <Shown key="provider" text={`${provider.provider} (${provider.orchestration}), ${arch}`} />],
    ["Durability", durabilityWords[durability] ?? durability],
    ["Default namespace", <Code key="namespace" text={functionNamespace} />],
    ...(session.may("Call:List") ? [["History", <HistoryLag key="history" />] as const] : []),
    ...(iam === undefined
      ? []
      : ([
          ["Issuer", <Code key="issuer" text={iam.issuer} />],
          [
            "Rules in force",
            `${countOf(iam.issuers, "issuer")}, ${countOf(iam.policies, "policy", "policies")}, ${countOf(iam.roles, "role")}`,
          ],
        ] as const)),
  ];
  return (
    <>
      <Facts rows={rows} />
      {iam !== undefined && iam.faults.length > 0 && (
        <div class="stack">
          <h3>Documents with faults</h3>
          <ul class="refused">
            {iam.faults.map(({ subject, place, sentence }) => (
              <li key={`${subject} ${place ?? ""} ${sentence}`}>
                <Shown text={`${subject}${place === undefined ? "" : ` (${place})`}: ${sentence}`} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

const durabilityWords: Readonly<Record<string, string>> = {
  interval: "interval: a crash of the operating system loses about the last second of calls",
  always: "always: a crash of the operating system loses nothing",
  cluster: "cluster: a crash of one machine loses nothing",
};

/** How far the history is behind. */
function HistoryLag() {
  const { requests } = useConsole();
  const loaded = useLoaded("history", (signal) =>
    requests.get<CallPageView>("/system/calls", { query: { limit: 1 }, signal, act: "read how far the history is" }),
  );
  const { value, failure } = loaded.state.value;
  if (failure !== undefined) return <Shown text={failure.message} />;
  if (value === undefined) return <span class="muted">…</span>;
  const { lagSeconds, complete, gaps } = value.history;
  return (
    <>
      {lagSeconds < 1 ? "Up to date" : `${durationWords(lagSeconds * 1_000)} behind`}
      {complete ? "" : ", not complete"}
      {gaps.length > 0 && `, ${countOf(gaps.length, "gap")}`}
    </>
  );
}
