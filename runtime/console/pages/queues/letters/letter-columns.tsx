import type { Signal } from "@preact/signals";

import { pageLink } from "../../../data/address/page-links.ts";
import { countWords, sizeWords } from "../../../data/words/number-words.ts";
import type { TableColumn } from "../../../parts/tables/column.ts";
import { Name, Shown } from "../../../parts/texts/shown.tsx";
import { Time } from "../../../parts/texts/time.tsx";
import { SelectBox } from "../../calls/list/call-columns.tsx";
import { shortId } from "../../calls/call-words.tsx";
import type { LetterOfQueue } from "./read-letters.ts";

/** The columns of the list of dead letters; those that are `selected` are acted on together. */
export function letterColumns(selected: Signal<ReadonlySet<string>>): readonly TableColumn<LetterOfQueue>[] {
  return [
    {
      key: "select",
      title: "Select",
      hideTitle: true,
      width: "1.5rem",
      cell: ({ callId, functionName = "a call" }) => (
        <SelectBox id={callId} name={`${functionName} ${shortId(callId)}`} selected={selected} />
      ),
    },
    {
      key: "function",
      title: "Function",
      width: "minmax(0, 1.6fr)",
      narrow: "title",
      cell: ({ callId, functionName, namespace }) => (
        <a class="row-link" href={pageLink.call(callId)}>
          <Name text={functionName === undefined ? "not readable" : `${functionName}.${namespace ?? ""}`} />
        </a>
      ),
    },
    { key: "reason", title: "Reason", width: "6.5rem", narrow: "side", cell: ({ reason }) => <Shown text={reason} /> },
    {
      key: "status",
      title: "Status",
      width: "3.5rem",
      align: "end",
      cell: ({ lastStatus }) => lastStatus ?? <span class="muted">–</span>,
    },
    { key: "runs", title: "Runs", width: "3rem", align: "end", cell: ({ attempts }) => countWords(attempts) },
    { key: "size", title: "Size", width: "4.5rem", align: "end", narrow: "hide", cell: ({ size }) => sizeWords(size) },
    { key: "dead", title: "Given up", width: "8rem", cell: ({ deadAt }) => <Time at={deadAt} /> },
    {
      key: "advice",
      title: "What to do",
      width: "minmax(0, 2.5fr)",
      cell: ({ advice }) => <Shown text={advice} />,
    },
  ];
}
