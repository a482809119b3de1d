import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import type { AuditRecord } from "../../../api/schemas/iam/audit.ts";
import { pageLink } from "../../data/address/page-links.ts";
import { useNarrowing } from "../../data/address/use-narrowing.ts";
import { useConsole } from "../../data/console-context.ts";
import { countOf } from "../../data/words/number-words.ts";
import { Button } from "../../parts/forms/button.tsx";
import { SelectField } from "../../parts/forms/field.tsx";
import { Waiting } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import type { TableColumn } from "../../parts/tables/column.ts";
import { VirtualTable } from "../../parts/tables/virtual-table.tsx";
import { Empty } from "../../parts/texts/empty.tsx";
import { FailureNote } from "../../parts/texts/failure-note.tsx";
import { Name, Who } from "../../parts/texts/shown.tsx";
import { StateBadge } from "../../parts/texts/state-badge.tsx";
import { Time } from "../../parts/texts/time.tsx";
import { NarrowField } from "../calls/list/call-filters.tsx";
import { AuditDetail } from "./audit-detail.tsx";
import { AuditPanel } from "./audit-trail.ts";

/** Seconds until a busy gateway is asked again that did not say when. */
const askAgainSeconds = 10;

const periods: readonly (readonly [hours: string, words: string])[] = [
  ["1", "In the last hour"],
  ["24", "In the last day"],
  ["168", "In the last week"],
  ["336", "In the last 14 days"],
];

/** Who changed what, and who was refused what. */
export function AuditPage() {
  const { requests, connection } = useConsole();
  const [hours, chooseHours] = useNarrowing("hours", "24");
  const [subject] = useNarrowing("subject");
  const [action] = useNarrowing("action");
  const [allowed, chooseAllowed] = useNarrowing("allowed");
  const [follow, chooseFollow] = useNarrowing("follow");
  const round = useSignal(0);
  const opened = useSignal<AuditRecord | undefined>(undefined);
  const trail = useMemo(() => new AuditPanel(requests), [requests]);
  const { value: returns } = connection.returns;
  useEffect(() => {
    const stop = new AbortController();
    void trail.read(
      {
        since: new Date(Date.now() - Number(hours.value) * 3_600_000),
        subject: subject.value,
        action: action.value,
        allowed: allowed.value,
        follow: follow.value === "yes",
      },
      stop.signal,
    );
    return () => stop.abort();
  }, [hours.value, subject.value, action.value, allowed.value, follow.value, round.value, returns]);
  const columns = useMemo(() => columnsOf((record) => void (opened.value = record)), [opened]);
  const { records, failure, since } = trail.state.value;
  useEffect(() => {
    if (failure?.status !== 429 && failure?.status !== 503) return undefined;
    const timer = setTimeout(() => round.value++, (failure.retryAfterSeconds ?? askAgainSeconds) * 1_000);
    return () => clearTimeout(timer);
  }, [failure]);
  return (
    <>
      <PageHead title="Audit" above={<a href={pageLink.access}>Access</a>}>
        <Button pressed={follow.value === "yes"} onClick={() => chooseFollow(follow.value === "yes" ? "" : "yes")}>
          Follow
        </Button>
        <Button off={follow.value === "yes" ? "It is followed" : undefined} onClick={() => round.value++}>
          Read again
        </Button>
      </PageHead>
      <search class="filters">
        <NarrowField name="subject" label="Who" placeholder="alice@example.com, fed:alice, or fed:*" isSearch />
        <NarrowField name="action" label="Action" placeholder="Function:*" />
        <SelectField
          label="Outcome"
          value={allowed.value}
          choices={[
            ["", "All"],
            ["true", "Changes"],
            ["false", "Refusals"],
          ]}
          onChange={chooseAllowed}
        />
        <SelectField label="When" value={hours.value} choices={periods} onChange={chooseHours} />
      </search>
      {failure !== undefined && <FailureNote failure={failure} repeats />}
      <Panel bare title={countOf(records.length, "record")}>
        {records.length > 0 && <VirtualTable label="Records" columns={columns} rows={records} keyOf={({ id }) => id} />}
        {records.length === 0 && failure === undefined && since === undefined && (
          <Empty title="No record fits these filters">
            <p>Each change, and each refusal, is one record. Changes are kept for 14 days.</p>
          </Empty>
        )}
        {records.length === 0 && since !== undefined && follow.value !== "yes" && (
          <Waiting since={since} what="the audit" />
        )}
      </Panel>
      {opened.value !== undefined && <AuditDetail record={opened.value} onClose={() => (opened.value = undefined)} />}
    </>
  );
}

function columnsOf(open: (record: AuditRecord) => void): readonly TableColumn<AuditRecord>[] {
  return [
    {
      key: "action",
      title: "Action",
      width: "minmax(0, 1.3fr)",
      narrow: "title",
      cell: (record) => (
        <button type="button" class="link" onClick={() => open(record)}>
          <Name text={record.action} />
        </button>
      ),
    },
    {
      key: "outcome",
      title: "Outcome",
      narrow: "side",
      width: "7rem",
      cell: ({ allowed, status }) => (
        <StateBadge tone={allowed ? (status < 400 ? "good" : "warn") : "bad"}>
          {allowed ? `${status}` : "refused"}
        </StateBadge>
      ),
    },
    {
      key: "who",
      title: "Who",
      width: "minmax(0, 1fr)",
      cell: ({ subject, name, count }) => (
        <>
          {subject === undefined ? <span class="muted">nobody known</span> : <Who subject={subject} name={name} />}
          {count !== undefined && count > 1 && <span class="muted"> × {count}</span>}
        </>
      ),
    },
    {
      key: "resource",
      title: "Resource",
      width: "minmax(0, 1.2fr)",
      cell: ({ resource }) => resource !== undefined && <Name text={resource} />,
    },
    { key: "address", title: "From", width: "9rem", narrow: "hide", cell: ({ address }) => <Name text={address} /> },
    { key: "time", title: "When", width: "8.5rem", cell: ({ time }) => <Time at={time} /> },
  ];
}
