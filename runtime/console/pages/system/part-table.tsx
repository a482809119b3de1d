import type { PlatformPart } from "../../../api/schemas/doctor-report.ts";
import { countWords } from "../../data/words/number-words.ts";
import { Panel } from "../../parts/layout/panel.tsx";
import type { TableColumn } from "../../parts/tables/column.ts";
import { Table } from "../../parts/tables/table.tsx";
import { Code, Name } from "../../parts/texts/shown.tsx";
import { StateBadge } from "../../parts/texts/state-badge.tsx";

const columns: readonly TableColumn<PlatformPart>[] = [
  { key: "part", title: "Part", narrow: "title", cell: ({ part }) => <Name text={part} /> },
  {
    key: "ready",
    title: "Ready",
    narrow: "side",
    width: "9rem",
    cell: ({ ready, replicas }) => (
      <StateBadge tone={ready >= replicas ? "good" : ready > 0 ? "warn" : "bad"}>
        {countWords(ready)} of {countWords(replicas)}
      </StateBadge>
    ),
  },
  { key: "node", title: "Runs on", cell: ({ node }) => (node === undefined ? null : <Code text={node} />) },
  { key: "release", title: "Release", width: "8rem", cell: ({ release }) => release ?? null },
];

/** The parts of the platform, as far as the gateway knows of them. */
export function PartTable({ parts }: { readonly parts: readonly PlatformPart[] }) {
  return (
    <Panel title="Parts" bare>
      <Table label="Parts" columns={columns} rows={parts} keyOf={({ part, node }) => `${part} ${node ?? ""}`} />
    </Panel>
  );
}
