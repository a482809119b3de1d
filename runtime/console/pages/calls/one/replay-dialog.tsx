import { useSignal } from "@preact/signals";

import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import type { ReplayRequest } from "../../../../api/schemas/history/call-request.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useSending } from "../../../data/requests/use-sending.ts";
import { commandLine } from "../../../data/words/shell-word.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { Dialog, DialogButtons } from "../../../parts/forms/dialog.tsx";
import { CheckField, TextField } from "../../../parts/forms/field.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { sendReplay } from "../call-acts.ts";
import { shortId } from "../call-words.tsx";
import { parseHeaderLines } from "./header-lines.ts";

export interface ReplayDialogProps {
  readonly call: CallDetail;
  readonly onDone: (newId: string, command: string) => void;
  readonly onClose: () => void;
}

/** Asks how a call is replayed: with what headers and what body. */
export function ReplayDialog({ call, onDone, onClose }: ReplayDialogProps) {
  const { requests } = useConsole();
  const { callId, callback } = call;
  const headers = useSignal("");
  const body = useSignal("");
  const changesBody = useSignal(false);
  const sendsCallback = useSignal(false);
  const { state, send } = useSending();
  const parsed = parseHeaderLines(headers.value);
  const command = commandLine([
    "weir",
    "calls",
    "replay",
    callId,
    ...(parsed.kind === "headers" ? parsed.pairs.flatMap(([name, value]) => ["-H", `${name}: ${value}`]) : []),
    ...(changesBody.value ? ["-d", body.value] : []),
    ...(sendsCallback.value ? ["--callback"] : []),
  ]);
  const asked = (): ReplayRequest => ({
    ...(parsed.kind === "headers" && parsed.pairs.length > 0 ? { headers: parsed.pairs.flat() } : {}),
    ...(changesBody.value ? { body: new TextEncoder().encode(body.value).toBase64() } : {}),
    ...(sendsCallback.value ? { callback: true } : {}),
  });
  return (
    <Dialog title={`Replay call ${shortId(callId)}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed.kind === "unreadable") return;
          void send(async () => onDone(await sendReplay(requests, call, asked()), command)).then(
            (sent) => sent && onClose(),
          );
        }}
      >
        <p>
          It is queued anew, as another call of the function as it is now. Headers that may hold credentials were not
          kept.
        </p>
        <TextField
          label="Headers to add or to replace"
          hint="One on each line: Name: value"
          value={headers}
          rows={3}
          mono
          problem={parsed.kind === "unreadable" ? parsed.sentence : undefined}
        />
        <CheckField label="Send another body" value={changesBody} />
        {changesBody.value && <TextField label="Body" value={body} rows={5} mono />}
        {callback !== undefined && <CheckField label="Send its callback, too" value={sendsCallback} />}
        {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
        <SameCommand command={command} />
        <DialogButtons>
          <Button onClick={onClose}>Close</Button>
          <Button
            type="submit"
            look="main"
            busy={state.value.kind === "sending"}
            off={parsed.kind === "unreadable" ? parsed.sentence : undefined}
          >
            Replay 1 call
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
