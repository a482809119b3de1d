import { useSignal } from "@preact/signals";

import { useConsole } from "../../data/console-context.ts";
import { functionKeyOf, type FunctionOfPage } from "../../data/functions/function-of-page.ts";
import { useSending } from "../../data/requests/use-sending.ts";
import { countOf } from "../../data/words/number-words.ts";
import { commandLine } from "../../data/words/shell-word.ts";
import { Button } from "../../parts/forms/button.tsx";
import { Dialog, DialogButtons } from "../../parts/forms/dialog.tsx";
import { TextField } from "../../parts/forms/field.tsx";
import { FailureNote } from "../../parts/texts/failure-note.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";

export interface ScaleDialogProps {
  readonly named: FunctionOfPage;
  /** Desired now. */
  readonly replicas: number;
  readonly onClose: () => void;
  /** It was sent. */
  readonly onSent?: (replicas: number) => void;
}

/** Asks how many replicas there should be. */
export function ScaleDialog({ named, replicas, onClose, onSent }: ScaleDialogProps) {
  const { requests, sent } = useConsole();
  const text = useSignal(String(replicas));
  const { state, send } = useSending();
  const wanted = parseReplicaCount(text.value);
  const { name, namespace } = named;
  const scale = (count: number): Promise<unknown> =>
    requests.send("POST", `/system/scale-function/${encodeURIComponent(name)}`, {
      query: { namespace },
      body: { replicas: count },
      act: `scale ${name}`,
    });
  return (
    <Dialog title={`Scale ${name}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted === undefined) return;
          void send(() => scale(wanted)).then((done) => {
            if (!done) return;
            sent.say({
              what: `Scale ${name} to ${countOf(wanted, "replica")}`,
              command: commandLine(["weir", "scale", functionKeyOf(named), String(wanted)]),
            });
            onSent?.(wanted);
            onClose();
          });
        }}
      >
        <TextField
          label="Replicas"
          value={text}
          type="number"
          min={0}
          hint="At 0, the next call starts one. The autoscaler leaves the number alone for a while."
          problem={wanted === undefined ? "A whole number from 0" : undefined}
        />
        <SameCommand command={commandLine(["weir", "scale", functionKeyOf(named), String(wanted ?? replicas)])} />
        {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
        <DialogButtons>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="main"
            busy={state.value.kind === "sending"}
            off={wanted === undefined ? "Write a whole number first" : undefined}
          >
            {wanted === 0 ? "Scale to zero" : `Scale to ${wanted ?? "…"}`}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

/** A count of replicas; undefined for a text that is none. */
export function parseReplicaCount(text: string): number | undefined {
  return /^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined;
}
