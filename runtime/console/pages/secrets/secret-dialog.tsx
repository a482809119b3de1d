import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

import type { SecretListItem } from "../../../api/schemas/secret.ts";
import { useConsole } from "../../data/console-context.ts";
import { useSending } from "../../data/requests/use-sending.ts";
import { commandLine } from "../../data/words/shell-word.ts";
import { Button } from "../../parts/forms/button.tsx";
import { Dialog, DialogButtons } from "../../parts/forms/dialog.tsx";
import { LabelledField, SelectField, TextField } from "../../parts/forms/field.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";
import { FailureNote } from "../../parts/texts/failure-note.tsx";
import { base64Of, whyNoValue } from "./secret-bytes.ts";

export interface SecretDialogProps {
  /** Undefined: a new one. */
  readonly secret: SecretListItem | undefined;
  /** Of a new one; empty = the default one. */
  readonly namespace: string;
  readonly onDone: (what: string, command: string) => void;
  readonly onClose: () => void;
}

/** Stores a value: a text, or a file. It leaves the page when it is sent, however that ends. */
export function SecretDialog({ secret, namespace: chosen, onDone, onClose }: SecretDialogProps) {
  const { requests } = useConsole();
  const name = useSignal(secret?.name ?? "");
  const namespace = secret?.namespace ?? chosen;
  const text = useSignal("");
  const kind = useSignal<"text" | "file">("text");
  const file = useRef<HTMLInputElement>(null);
  const problem = useSignal<string | undefined>(undefined);
  const { state, send } = useSending();
  const isNew = secret === undefined;
  const command = commandLine([
    "weir",
    "secrets",
    isNew ? "create" : "update",
    name.value === "" ? "<name>" : name.value,
    ...(namespace === "" ? [] : ["-n", namespace]),
    "--from-file",
    "value.txt",
  ]);

  /** The value, which no part of the page holds afterwards. */
  const takeValue = async (): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    const [chosenFile] = file.current?.files ?? [];
    const taken = text.peek();
    text.value = "";
    if (file.current !== null) file.current.value = "";
    if (kind.peek() === "text") return new TextEncoder().encode(taken);
    return chosenFile === undefined ? undefined : new Uint8Array(await chosenFile.arrayBuffer());
  };
  const submit = async (): Promise<void> => {
    const value = await takeValue();
    problem.value = value === undefined ? "Choose a file" : whyNoValue(value);
    if (value === undefined || problem.value !== undefined) return;
    const sent = await send(() =>
      requests.send(isNew ? "POST" : "PUT", "/system/secrets", {
        body: { name: name.value, ...(namespace === "" ? {} : { namespace }), rawValue: base64Of(value) },
        act: `store secret "${name.value}"`,
      }),
    );
    if (!sent) return;
    onDone(`${isNew ? "Store" : "Replace"} secret ${name.value}`, command);
    onClose();
  };
  return (
    <Dialog title={isNew ? "New secret" : `Another value for ${name.value}`} onClose={onClose}>
      <form
        class="stack"
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {isNew && (
          <TextField label="Name" value={name} required mono hint="The file that functions read has this name" />
        )}
        <SelectField
          label="The value is"
          value={kind.value}
          choices={[
            ["text", "a line of text"],
            ["file", "a file, byte for byte"],
          ]}
          onChange={(next) => {
            kind.value = next === "file" ? "file" : "text";
            problem.value = undefined;
          }}
        />
        {kind.value === "text" ? (
          <TextField
            label="Value"
            type="password"
            autocomplete="new-password"
            value={text}
            hint="It is sent once, and never shown again"
            problem={problem.value}
          />
        ) : (
          <LabelledField label="File" hint="At most 1 MiB" problem={problem.value}>
            {({ id, described }) => <input ref={file} id={id} class="input" type="file" aria-describedby={described} />}
          </LabelledField>
        )}
        {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
        <SameCommand command={command} />
        <DialogButtons>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look="main" busy={state.value.kind === "sending"}>
            {isNew ? "Store secret" : "Replace value"}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
