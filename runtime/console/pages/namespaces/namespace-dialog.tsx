import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { FunctionNamespaceBody } from "../../../api/schemas/function-namespace.ts";
import { useConsole } from "../../data/console-context.ts";
import { useLoaded } from "../../data/requests/use-loaded.ts";
import { useSending } from "../../data/requests/use-sending.ts";
import { commandLine } from "../../data/words/shell-word.ts";
import { Button } from "../../parts/forms/button.tsx";
import { Dialog, DialogButtons } from "../../parts/forms/dialog.tsx";
import { TextField } from "../../parts/forms/field.tsx";
import { LoadedView } from "../../parts/layout/loaded-view.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";
import { FailureNote } from "../../parts/texts/failure-note.tsx";
import { formatPairLines, parsePairLines } from "./pair-lines.ts";

export interface NamespaceDialogProps {
  /** Empty: a new one. */
  readonly name: string;
  readonly onDone: (what: string, command: string) => void;
  readonly onClose: () => void;
}

/** Makes a namespace, or changes its labels and annotations. */
export function NamespaceDialog(props: NamespaceDialogProps) {
  const { name, onClose } = props;
  const { requests } = useConsole();
  const isNew = name === "";
  const loaded = useLoaded(`namespace ${name}`, async (signal) =>
    isNew
      ? { name: "" }
      : requests.get<FunctionNamespaceBody>(`/system/namespace/${encodeURIComponent(name)}`, {
          signal,
          act: `read namespace "${name}"`,
        }),
  );
  return (
    <Dialog title={isNew ? "New namespace" : `Labels of ${name}`} onClose={onClose}>
      <LoadedView state={loaded.state} what="the namespace">
        {(before) => <NamespaceForm {...props} before={before} />}
      </LoadedView>
    </Dialog>
  );
}

function NamespaceForm({
  name,
  before,
  onDone,
  onClose,
}: NamespaceDialogProps & { readonly before: FunctionNamespaceBody }) {
  const { requests } = useConsole();
  const isNew = name === "";
  const chosen = useSignal(name);
  const labels = useSignal("");
  const annotations = useSignal("");
  const { state, send } = useSending();
  useEffect(() => {
    labels.value = formatPairLines(before.labels);
    annotations.value = formatPairLines(before.annotations);
  }, [before]);
  const [ofLabels, ofAnnotations] = [parsePairLines(labels.value), parsePairLines(annotations.value)];
  const problem = [ofLabels, ofAnnotations].find((each) => each.kind === "unreadable")?.sentence;
  const command = commandLine([
    "weir",
    "namespaces",
    isNew ? "create" : "update",
    chosen.value,
    ...(ofLabels.kind === "pairs" ? options("--label", ofLabels.pairs) : []),
    ...(ofAnnotations.kind === "pairs" ? options("--annotation", ofAnnotations.pairs) : []),
  ]);
  const submit = async (): Promise<void> => {
    const body: FunctionNamespaceBody = {
      name: chosen.value,
      labels: ofLabels.kind === "pairs" ? ofLabels.pairs : {},
      annotations: ofAnnotations.kind === "pairs" ? ofAnnotations.pairs : {},
    };
    const act = `${isNew ? "create" : "change"} namespace "${chosen.value}"`;
    if (isNew) await requests.send("POST", "/system/namespaces", { body, act });
    else await requests.send("PUT", `/system/namespace/${encodeURIComponent(name)}`, { body, act });
    onDone(`${isNew ? "Create" : "Change"} namespace ${chosen.value}`, command);
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined) void send(submit).then((sent) => sent && onClose());
      }}
    >
      {isNew && <TextField label="Name" value={chosen} required mono hint="a to z, 0 to 9 and -" />}
      <TextField
        label="Labels"
        value={labels}
        rows={3}
        mono
        hint="One on each line: key=value"
        problem={ofLabels.kind === "unreadable" ? ofLabels.sentence : undefined}
      />
      <TextField
        label="Annotations"
        value={annotations}
        rows={3}
        mono
        hint="One on each line: key=value"
        problem={ofAnnotations.kind === "unreadable" ? ofAnnotations.sentence : undefined}
      />
      {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
      <SameCommand command={command} />
      <DialogButtons>
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" look="main" busy={state.value.kind === "sending"} off={problem}>
          {isNew ? "Create namespace" : "Save labels"}
        </Button>
      </DialogButtons>
    </form>
  );
}

function options(name: string, pairs: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(pairs).flatMap(([key, value]) => [name, `${key}=${value}`]);
}
