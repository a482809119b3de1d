import type { ComponentChildren } from "preact";

import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useConsole } from "../../../data/console-context.ts";
import { countWords } from "../../../data/words/number-words.ts";
import { Panel } from "../../../parts/layout/panel.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { Facts } from "../../../parts/texts/sentence.tsx";
import { Code, Shown } from "../../../parts/texts/shown.tsx";
import { ExactTime, Time } from "../../../parts/texts/time.tsx";
import { CallStateBadge, functionOfCall, shortId } from "../call-words.tsx";
import { callSentence } from "./call-sentence.ts";

type Row = readonly [name: string, value: ComponentChildren];

/** What a call does now, and the facts about it. */
export function CallFactList({ call }: { readonly call: CallDetail }) {
  const { clock } = useConsole();
  const rows: readonly (Row | undefined)[] = [
    [
      "Function",
      <a key="function" href={pageLink.function(call.namespace, call.functionName)}>
        <Shown text={functionOfCall(call)} />
      </a>,
    ],
    call.queue === undefined
      ? ["Kind", "answered at once, not queued"]
      : [
          "Queue",
          <a key="queue" href={pageLink.queue(call.queue)}>
            <Shown text={call.queue} />
          </a>,
        ],
    ["Accepted", <Moment key="accepted" at={call.acceptedAt} />],
    call.endedAt === undefined ? undefined : ["Ended", <Moment key="ended" at={call.endedAt} />],
    call.nextAttemptAt === undefined ? undefined : ["Next retry", <Moment key="next" at={call.nextAttemptAt} />],
    call.kind === "sync" ? undefined : ["Retries", `${countWords(call.retries)} of ${countWords(call.maxRetries)}`],
    call.redrives === 0 ? undefined : ["Redriven", `${countWords(call.redrives)} times`],
    call.principal === undefined
      ? undefined
      : [
          "Sent by",
          <Code key="principal" text={[call.principal.subject, call.principal.issuer].filter(Boolean).join(" at ")} />,
        ],
    call.callback === undefined ? undefined : ["Callback", <Callback key="callback" callback={call.callback} />],
    call.replayOf === undefined ? undefined : ["Replay of", <CallLink key="parent" id={call.replayOf} />],
    call.replays.length === 0
      ? undefined
      : [
          "Replayed as",
          <span key="replays" class="row-of-buttons">
            {call.replays.map((id) => (
              <CallLink key={id} id={id} />
            ))}
          </span>,
        ],
  ];
  return (
    <Panel>
      <div class="sentence">
        <CallStateBadge state={call.state} />
        <p>
          <Shown text={callSentence(call, clock.now.value)} />
        </p>
      </div>
      <Facts rows={rows.filter((row) => row !== undefined)} />
      <SameCommand command={`weir calls show ${call.callId}`} />
    </Panel>
  );
}

function Moment({ at }: { readonly at: string }) {
  return (
    <>
      <Time at={at} />{" "}
      <span class="muted">
        <ExactTime at={at} />
      </span>
    </>
  );
}

function CallLink({ id }: { readonly id: string }) {
  return (
    <a href={pageLink.call(id)}>
      <code>{shortId(id)}</code>
    </a>
  );
}

function Callback({ callback }: { readonly callback: NonNullable<CallDetail["callback"]> }) {
  const { url, state, attempts, error, nextAttemptAt } = callback;
  return (
    <>
      {state} after {countWords(attempts)} {attempts === 1 ? "try" : "tries"} to <Code text={url} />
      {error !== undefined && (
        <>
          : <Shown text={error} />
        </>
      )}
      {nextAttemptAt !== undefined && (
        <>
          ; next try <Time at={nextAttemptAt} />
        </>
      )}
    </>
  );
}
