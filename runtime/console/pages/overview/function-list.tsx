import { useComputed, useSignal, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { pageLink } from "../../data/address/page-links.ts";
import { useConsole } from "../../data/console-context.ts";
import type { FunctionCell } from "../../data/functions/listed-functions.ts";
import { usePendingScale, type PendingScale } from "../../data/functions/pending-scale.ts";
import { functionStateWords } from "../../data/functions/state-words.ts";
import { lastKnown, useRollupsOf } from "../../data/functions/use-rollups.ts";
import { durationWords } from "../../data/time/duration-words.ts";
import { rateWords } from "../../data/words/number-words.ts";
import { Button } from "../../parts/forms/button.tsx";
import { Sparkline } from "../../parts/charts/sparkline.tsx";
import type { SortOrder, TableColumn } from "../../parts/tables/column.ts";
import { VirtualTable } from "../../parts/tables/virtual-table.tsx";
import { Note } from "../../parts/texts/notice-bar.tsx";
import { Shown } from "../../parts/texts/shown.tsx";
import { StateBadge } from "../../parts/texts/state-badge.tsx";
import { ScaleDialog } from "../functions/scale-dialog.tsx";

export interface FunctionListProps {
  readonly shown: ReadonlySignal<readonly FunctionCell[]>;
  readonly order: SortOrder;
  readonly onOrder: (order: SortOrder) => void;
}

/** The functions of the overview, and what they do. */
export function FunctionList({ shown, order, onOrder }: FunctionListProps) {
  const { session } = useConsole();
  const inSight = useSignal<readonly string[]>([]);
  const rollups = useRollupsOf(inSight);
  const scaled = useSignal<FunctionCell | undefined>(undefined);
  const { pending, begin } = usePendingScale(
    (key) => shown.peek().find((cell) => cell.peek().key === key)?.value.wanted,
  );
  const mayScale = session.may("Function:Scale");
  const columns = useMemo<readonly TableColumn<FunctionCell>[]>(
    () => [
      { key: "name", title: "Function", width: "minmax(0, 3fr)", sorts: true, narrow: "title", cell: nameCell },
      {
        key: "state",
        title: "State",
        width: "7rem",
        sorts: true,
        narrow: "side",
        cell: (cell) => <StateOf cell={cell} />,
      },
      {
        key: "replicas",
        title: "Replicas",
        width: "5.5rem",
        align: "end",
        sorts: true,
        cell: (cell) => <Replicas cell={cell} pending={pending} />,
      },
      { key: "calls", title: "Calls/s", width: "5rem", align: "end", sorts: true, cell: numberCell("calls") },
      { key: "errors", title: "Errors/s", width: "5rem", align: "end", sorts: true, cell: numberCell("errors") },
      {
        key: "p95",
        title: "p95",
        width: "5rem",
        align: "end",
        narrow: "hide",
        cell: (cell) => <P95 of={rollups.of(cell.peek().key)} />,
      },
      {
        key: "inFlight",
        title: "In flight",
        width: "5rem",
        align: "end",
        sorts: true,
        narrow: "hide",
        cell: numberCell("inFlight"),
      },
      {
        key: "line",
        title: "Last 15 min",
        width: "6rem",
        narrow: "hide",
        cell: (cell) => <CallsLine of={rollups.of(cell.peek().key)} />,
      },
      ...(mayScale
        ? [
            {
              key: "act",
              title: "Change",
              hideTitle: true,
              width: "4.5rem",
              align: "end" as const,
              cell: (cell: FunctionCell) => (
                <Button look="quiet" label={`Scale ${cell.peek().name}`} onClick={() => (scaled.value = cell)}>
                  Scale
                </Button>
              ),
            },
          ]
        : []),
    ],
    [mayScale],
  );
  const failure = rollups.failure.value;
  return (
    <>
      {failure !== undefined && (
        <Note tone="warn">
          <Shown text={failure.message} />
        </Note>
      )}
      <VirtualTable
        label="Functions"
        columns={columns}
        rows={shown.value}
        keyOf={(cell) => cell.peek().key}
        order={order}
        onOrder={onOrder}
        onSight={(keys) => void (inSight.value = keys)}
      />
      {scaled.value !== undefined && (
        <ScaleDialog
          named={scaled.value.peek()}
          replicas={scaled.value.peek().wanted}
          onClose={() => (scaled.value = undefined)}
          onSent={(wanted) => {
            const { key, wanted: before } = scaled.peek()?.peek() ?? { key: "", wanted };
            begin({ key, before, wanted });
          }}
        />
      )}
    </>
  );
}

function nameCell(cell: FunctionCell) {
  const { name, namespace } = cell.peek();
  return (
    <a class="row-link name" href={pageLink.function(namespace, name)} title={`${name} in ${namespace}`}>
      {name} <span class="muted">{namespace}</span>
    </a>
  );
}

function StateOf({ cell }: { readonly cell: FunctionCell }) {
  const [words, tone] = functionStateWords[cell.value.state] ?? [cell.value.state, "warn"];
  return <StateBadge tone={tone}>{words}</StateBadge>;
}

function Replicas({
  cell,
  pending,
}: {
  readonly cell: FunctionCell;
  readonly pending: ReadonlySignal<PendingScale | undefined>;
}) {
  return (
    <Live
      read={() => {
        const { key, ready, wanted } = cell.value;
        return pending.value?.key === key ? "scaling…" : `${ready} / ${wanted}`;
      }}
    />
  );
}

function numberCell(field: "calls" | "errors" | "inFlight") {
  return (cell: FunctionCell) => (
    <Live
      read={() => {
        const value = cell.value[field];
        return value === undefined ? "–" : rateWords(value);
      }}
    />
  );
}

/** A text that is set anew without anything around it. */
function Live({ read }: { readonly read: () => string }) {
  return <>{useComputed(read)}</>;
}

type Figures = ReturnType<ReturnType<typeof useRollupsOf>["of"]>;

function P95({ of }: { readonly of: Figures }) {
  const value = of.value === undefined ? undefined : lastKnown(of.value.p95);
  return <>{value === undefined ? "–" : durationWords(value)}</>;
}

function CallsLine({ of }: { readonly of: Figures }) {
  const { value } = of;
  if (value === undefined) return null;
  return <Sparkline values={value.calls} label="Calls of the last 15 minutes" />;
}
