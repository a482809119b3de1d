import { useSignal } from "@preact/signals";

import { useNarrowedText } from "../../../data/address/use-narrowed-text.ts";
import { useConsole } from "../../../data/console-context.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { SelectField, TextField } from "../../../parts/forms/field.tsx";
import { CallStateBadge, shownStates } from "../call-words.tsx";
import { callFilterNames, type CallFilterName } from "../../../../api/names.ts";
import { listOf, toggled, type CallQuery } from "./call-query.ts";

const moments: readonly (readonly [string, string])[] = [
  ["", "At any time"],
  ["15m", "In the last 15 minutes"],
  ["1h", "In the last hour"],
  ["6h", "In the last 6 hours"],
  ["24h", "In the last day"],
  ["168h", "In the last week"],
];

/** Parameters behind `More filters`. */
const further: readonly CallFilterName[] = ["namespace", "queue", "status", "reason", "until", "id"];

/** What narrows the list of calls; all of it is in the address. */
export function CallFilters({ query }: { readonly query: CallQuery }) {
  const { address } = useConsole();
  const given = callFilterNames.filter((name) => query[name] !== undefined);
  const open = useSignal(further.some((name) => query[name] !== undefined));
  return (
    <search class="stack">
      <div class="filters">
        <NarrowField name="function" label="Function" placeholder="name or name.namespace" isSearch />
        <SinceField query={query} />
        <Button expanded={open.value} onClick={() => (open.value = !open.value)}>
          More filters
        </Button>
        <Button
          off={given.length === 0 ? "Nothing narrows the list" : undefined}
          onClick={() => address.narrow(Object.fromEntries(given.map((name) => [name, undefined])))}
        >
          Show all
        </Button>
      </div>
      <div class="row-of-buttons" role="group" aria-label="States">
        {shownStates.map((state) => (
          <Button
            key={state}
            look="quiet"
            pressed={listOf(query.state).includes(state)}
            onClick={() => address.narrow({ state: toggled(query, "state", state).state })}
          >
            <CallStateBadge state={state} />
          </Button>
        ))}
      </div>
      {open.value && (
        <div class="filters">
          <NarrowField name="queue" label="Queue" placeholder="default" />
          <NarrowField name="namespace" label="Namespace" placeholder="functions" />
          <NarrowField name="status" label="Status" placeholder="5xx, 404" />
          <NarrowField name="reason" label="Reason" placeholder="exhausted" />
          <NarrowField name="until" label="Accepted before" placeholder="10m, or a time" />
          <NarrowField name="id" label="Id begins with" placeholder="7f3c" />
          <SelectField
            label="Kind"
            value={query.kind ?? ""}
            choices={[
              ["", "All"],
              ["async", "Queued"],
              ["sync", "Answered at once"],
            ]}
            onChange={(kind) => address.narrow({ kind })}
          />
          <SelectField
            label="Source"
            value={query.source ?? ""}
            choices={[
              ["", "All"],
              ["http", "Requests"],
              ["replay", "Replays"],
            ]}
            onChange={(source) => address.narrow({ source })}
          />
        </div>
      )}
    </search>
  );
}

function SinceField({ query: { since = "" } }: { readonly query: CallQuery }) {
  const { address } = useConsole();
  const isKnown = moments.some(([value]) => value === since);
  return (
    <SelectField
      label="Accepted"
      value={since}
      choices={isKnown ? moments : [...moments, [since, `Since ${since}`]]}
      onChange={(next) => address.narrow({ since: next })}
    />
  );
}

interface NarrowFieldProps {
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  readonly isSearch?: boolean;
}

/** A field whose text narrows the page, a moment after the last key. */
export function NarrowField({ name, label, placeholder = "", isSearch = false }: NarrowFieldProps) {
  const { typed } = useNarrowedText(name);
  return <TextField label={label} value={typed} placeholder={placeholder} type={isSearch ? "search" : "text"} />;
}
