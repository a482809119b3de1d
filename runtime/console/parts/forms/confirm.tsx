import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { useSending } from "../../data/requests/use-sending.ts";
import { Button } from "./button.tsx";
import { Dialog, DialogButtons } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { FailureNote } from "../texts/failure-note.tsx";

export interface ConfirmProps {
  readonly title: string;
  /** What will happen, and to how many things. */
  readonly children: ComponentChildren;
  /** The words of the button, e.g. `Delete 3 calls`. */
  readonly act: string;
  /** Has to be typed first, for what cannot be undone. */
  readonly typed?: string;
  /** The `weir` command that does the same. */
  readonly command?: ComponentChildren;
  /** It is closed when this resolves; what it rejects with is shown. */
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before something is destroyed. */
export function Confirm({ title, children, act, typed, command, onConfirm, onClose }: ConfirmProps) {
  const text = useSignal("");
  const { state, send } = useSending();
  const missing = typed !== undefined && text.value !== typed;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!missing) void send(onConfirm).then((done) => done && onClose());
        }}
      >
        {children}
        {typed !== undefined && <TextField label={`Type ${typed} to confirm`} value={text} autocomplete="off" mono />}
        {command}
        {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
        <DialogButtons>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="danger"
            busy={state.value.kind === "sending"}
            off={missing ? `Type ${typed} first` : undefined}
          >
            {act}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
