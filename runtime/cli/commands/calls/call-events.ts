import { formatDuration } from "../../../api/duration.ts";
import { localTime } from "../../output/age-text.ts";
import { formatTable, type Column } from "../../output/format-table.ts";

/** Something that happened to a call, or will. */
export interface CallEvent {
  /** RFC 3339; undefined for what has no time. */
  readonly at: string | undefined;
  readonly event: string;
  readonly detail: string;
}

/** Events as a table; `acceptedAt`, RFC 3339, is what their offsets count from. */
export function eventTable(acceptedAt: string, events: readonly CallEvent[]): string {
  const columns: readonly Column<CallEvent>[] = [
    { title: "TIME", cell: ({ at }) => localTime(at) },
    { title: "AFTER", cell: ({ at }) => offsetText(acceptedAt, at), align: "right" },
    { title: "EVENT", cell: ({ event }) => event },
    { title: "DETAIL", cell: ({ detail }) => detail },
  ];
  return formatTable(columns, events);
}

/** How long after `start` a time is, as in `+0.020s`, `+1m20s`; both RFC 3339. */
export function offsetText(start: string, at: string | undefined): string {
  const milliseconds = Date.parse(at ?? "") - Date.parse(start);
  if (Number.isNaN(milliseconds)) return "";
  const length = Math.abs(milliseconds);
  const text = length < 60_000 ? `${(length / 1_000).toFixed(3)}s` : formatDuration(Math.round(length / 1_000) * 1_000);
  return `${milliseconds < 0 ? "-" : "+"}${text}`;
}
