import { useComputed, useSignal } from "@preact/signals";

import type { FunctionStatus } from "../../../../api/schemas/function-status.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useSending } from "../../../data/requests/use-sending.ts";
import { countOf } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { SelectField, TextField } from "../../../parts/forms/field.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { deployCommandLine } from "../edit/deploy-command.ts";
import { deploymentOfStatus } from "../edit/deployment-of-status.ts";
import { DifferenceTable } from "../edit/difference-table.tsx";
import { differences } from "../edit/differences.ts";
import { boundsOf, withBounds, type BoundName } from "./label-bounds.ts";

/** Changes how a function is scaled. */
export function BoundsForm({ status, onSent }: { readonly status: FunctionStatus; readonly onSent: () => void }) {
  const { requests, sent, session } = useConsole();
  const begin = boundsOf(status.labels);
  const fields = {
    min: useSignal(begin.min),
    max: useSignal(begin.max),
    type: useSignal(begin.type),
    target: useSignal(begin.target),
    zero: useSignal(begin.zero),
    zeroDuration: useSignal(begin.zeroDuration),
  };
  const { state, send } = useSending();
  const valueOf = (name: BoundName): string => fields[name].value;
  const before = deploymentOfStatus(status);
  const after = useComputed(() =>
    withBounds(before, {
      min: valueOf("min"),
      max: valueOf("max"),
      type: valueOf("type"),
      target: valueOf("target"),
      zero: valueOf("zero"),
      zeroDuration: valueOf("zeroDuration"),
    }),
  ).value;
  const changes = differences(before, after);
  const off = !session.may("Function:Update")
    ? "You may not change it"
    : changes.length === 0
      ? "Nothing is changed yet"
      : undefined;
  return (
    <Panel title="Bounds">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (off !== undefined) return;
          void send(() =>
            requests.send("PUT", "/system/functions", { body: after, act: `change ${status.name}` }),
          ).then((done) => {
            if (!done) return;
            sent.say({
              what: `${countOf(changes.length, "change")} of ${status.name}`,
              command: deployCommandLine(after),
            });
            onSent();
          });
        }}
      >
        <div class="fields">
          <TextField label="At least" value={fields.min} type="number" min={0} placeholder="1" hint="Replicas" />
          <TextField
            label="At most"
            value={fields.max}
            type="number"
            min={1}
            placeholder="as the edition"
            hint="Replicas"
          />
          <SelectField
            label="By"
            value={fields.type.value}
            choices={[
              ["", "The default"],
              ["capacity", "Calls in flight"],
              ["rps", "Calls a second"],
              ["cpu", "Processor"],
              ...(["", "capacity", "rps", "cpu"].includes(fields.type.value)
                ? []
                : [[fields.type.value, fields.type.value] as const]),
            ]}
            onChange={(value) => (fields.type.value = value)}
          />
          <TextField label="Target" value={fields.target} placeholder="as the platform" hint="For each replica" />
          <SelectField
            label="To zero"
            value={fields.zero.value}
            choices={[
              ["", "The default"],
              ["true", "When it is idle"],
              ["false", "Never"],
            ]}
            onChange={(value) => (fields.zero.value = value)}
          />
          <TextField label="Idle for" value={fields.zeroDuration} placeholder="as the platform" hint="As in 5m" />
        </div>
        {changes.length > 0 && (
          <>
            <DifferenceTable rows={changes} />
            <SameCommand command={deployCommandLine(after)} />
          </>
        )}
        {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
        <div class="row-of-buttons">
          <Button type="submit" look="main" busy={state.value.kind === "sending"} off={off}>
            {changes.length === 0 ? "Send" : `Send ${countOf(changes.length, "change")}`}
          </Button>
        </div>
        <p class="muted">Replicas are replaced one after another, as by every change of a deployment.</p>
      </form>
    </Panel>
  );
}
