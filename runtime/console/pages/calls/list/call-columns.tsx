import type { Signal } from "@preact/signals";

import { pageLink } from "../../../data/address/page-links.ts";
import type { TableColumn } from "../../../parts/tables/column.ts";
import { Name } from "../../../parts/texts/shown.tsx";
import { Duration, ExactTime, Time } from "../../../parts/texts/time.tsx";
import { CallStateBadge, functionOfCall, shortId } from "../call-words.tsx";
import type { ListedCallRow } from "./call-rows.ts";

/** The columns of the list of calls; those that are `selected` are acted on together. */
export function callColumns(selected: Signal<ReadonlySet<string>>): readonly TableColumn<ListedCallRow>[] {
  const ofCall =
    (
      cell: (call: Extract<ListedCallRow, { kind: "call" }>["call"]) => ReturnType<TableColumn<ListedCallRow>["cell"]>,
    ) =>
    (row: ListedCallRow) =>
      row.kind === "call" ? cell(row.call) : null;
  return [
    {
      key: "select",
      title: "Select",
      hideTitle: true,
      width: "1.5rem",
      cell: ofCall((call) => (
        <SelectBox id={call.callId} name={`${functionOfCall(call)} ${shortId(call.callId)}`} selected={selected} />
      )),
    },
    {
      key: "function",
      title: "Function",
      width: "minmax(0, 2fr)",
      narrow: "title",
      cell: (row) =>
        row.kind === "gap" ? (
          <p class="gap-row">
            Calls may be missing here: the history has a gap from <ExactTime at={row.gap.from} /> to{" "}
            <ExactTime at={row.gap.to} />
          </p>
        ) : (
          <a class="row-link" href={pageLink.call(row.call.callId)}>
            <Name text={functionOfCall(row.call)} />
          </a>
        ),
    },
    {
      key: "state",
      title: "State",
      narrow: "side",
      width: "minmax(7.5rem, 1.2fr)",
      cell: ofCall(({ state, reason }) => (
        <>
          <CallStateBadge state={state} />
          {reason !== undefined && <span class="muted"> {reason}</span>}
        </>
      )),
    },
    { key: "accepted", title: "Accepted", width: "8.5rem", cell: ofCall(({ acceptedAt }) => <Time at={acceptedAt} />) },
    {
      key: "status",
      title: "Status",
      narrow: "hide",
      width: "3.75rem",
      align: "end",
      cell: ofCall(({ status }) => status ?? <span class="muted">–</span>),
    },
    {
      key: "waited",
      title: "Waited",
      narrow: "hide",
      width: "5.5rem",
      align: "end",
      cell: ofCall(({ waitSeconds }) => <Duration seconds={waitSeconds} />),
    },
    {
      key: "took",
      title: "Took",
      narrow: "hide",
      width: "5.5rem",
      align: "end",
      cell: ofCall(({ durationSeconds }) => <Duration seconds={durationSeconds} />),
    },
    {
      key: "retries",
      title: "Retries",
      width: "4rem",
      align: "end",
      narrow: "hide",
      cell: ofCall(({ retries }) => retries),
    },
    {
      key: "id",
      title: "Id",
      width: "5.5rem",
      narrow: "hide",
      cell: ofCall(({ callId }) => <code>{shortId(callId)}</code>),
    },
  ];
}

/** Whether something is acted on with the others. */
export function SelectBox({
  id,
  name,
  selected,
}: {
  readonly id: string;
  readonly name: string;
  readonly selected: Signal<ReadonlySet<string>>;
}) {
  return (
    <input
      type="checkbox"
      class="select-box"
      aria-label={`Select ${name}`}
      checked={selected.value.has(id)}
      onChange={(event) => {
        const next = new Set(selected.peek());
        if (event.currentTarget.checked) next.add(id);
        else next.delete(id);
        selected.value = next;
      }}
    />
  );
}
