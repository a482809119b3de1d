import { useSignal } from "@preact/signals";

import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useConsole } from "../../../data/console-context.ts";
import type { SentChange } from "../../../data/sent-change.ts";
import { useSending } from "../../../data/requests/use-sending.ts";
import { commandLine } from "../../../data/words/shell-word.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { Confirm } from "../../../parts/forms/confirm.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { Shown } from "../../../parts/texts/shown.tsx";
import { sendCancel, forgetCall, sendRedrive } from "../call-acts.ts";
import { shortId } from "../call-words.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";

type Asked = "cancel" | "replay" | "forget";

/** What can be done with a call; what cannot says why. */
export function CallActionsPanel({ call, onActed }: { readonly call: CallDetail; readonly onActed: () => void }) {
  const { address, connection, requests, sent, session } = useConsole();
  const asked = useSignal<Asked | undefined>(undefined);
  const { state, send } = useSending();
  const { callId, actions } = call;
  const close = (): void => void (asked.value = undefined);
  const tell = (change: SentChange): void => {
    sent.say(change);
    onActed();
  };
  const redrive = (): void =>
    void send(() => sendRedrive(requests, call)).then(
      (done) =>
        done &&
        tell({
          what: `Redrive call ${shortId(callId)}`,
          command: commandLine(["weir", "dead-letters", "redrive", callId]),
        }),
    );
  const rows = [
    { name: "Cancel", allowed: actions.cancel, act: () => (asked.value = "cancel") },
    ...(session.may("Queue:Redrive") ? [{ name: "Redrive", allowed: actions.redrive, act: redrive }] : []),
    ...(session.may("Call:Replay")
      ? [{ name: "Replay", allowed: actions.replay, act: () => (asked.value = "replay") }]
      : []),
    ...(session.may("Call:Delete")
      ? [
          {
            name: "Remove from history",
            allowed:
              call.endedAt === undefined && call.state !== "unknown"
                ? `Cannot remove call "${callId}": it is ${call.state}`
                : (true as const),
            act: () => (asked.value = "forget"),
          },
        ]
      : []),
  ];
  const away = connection.state.value.kind === "away" ? "The gateway is away" : undefined;
  const refused = rows.filter(({ allowed }) => allowed !== true);
  return (
    <Panel title="Actions">
      <div class="row-of-buttons">
        {rows.map(({ name, allowed, act }) => (
          <Button
            key={name}
            off={allowed === true ? away : allowed}
            busy={name === "Redrive" && state.value.kind === "sending"}
            onClick={act}
          >
            {name}
          </Button>
        ))}
      </div>
      {refused.length > 0 && (
        <ul class="refusals muted">
          {refused.map(({ name, allowed }) => (
            <li key={name}>
              <Shown text={String(allowed)} />
            </li>
          ))}
        </ul>
      )}
      {state.value.kind === "failed" && <FailureNote failure={state.value.failure} />}
      {asked.value === "cancel" && (
        <Confirm
          title={`Cancel call ${shortId(callId)}`}
          act="Cancel 1 call"
          command={<SameCommand command={commandLine(["weir", "calls", "cancel", callId])} />}
          onConfirm={async () => {
            await sendCancel(requests, call);
            tell({ what: `Cancel call ${shortId(callId)}`, command: commandLine(["weir", "calls", "cancel", callId]) });
          }}
          onClose={close}
        >
          <p>No run of it starts afterwards; one that goes on is cut.</p>
        </Confirm>
      )}
      {asked.value === "forget" && (
        <Confirm
          title={`Remove call ${shortId(callId)} from the history`}
          act="Remove 1 call"
          onConfirm={async () => {
            await forgetCall(requests, call);
            address.go(pageLink.calls());
          }}
          onClose={close}
        >
          <p>
            Its row, its kept request and its log lines are removed for good. Its dead letter, if there is one, stays.
          </p>
        </Confirm>
      )}
      {asked.value === "replay" && (
        <ReplayDialog
          call={call}
          onDone={(newId, command) =>
            tell({ what: `Replay call ${shortId(callId)} as ${shortId(newId)}`, command, href: pageLink.call(newId) })
          }
          onClose={close}
        />
      )}
    </Panel>
  );
}
