import { useComputed, useSignal } from "@preact/signals";

import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import type { CallDetailEvent } from "../../../../api/schemas/history/watched-calls.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import { useTopic } from "../../../data/stream/use-topic.ts";
import { LoadedView } from "../../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../../parts/layout/page-head.tsx";
import { CopyButton } from "../../../parts/texts/copy.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { Shown } from "../../../parts/texts/shown.tsx";
import { ExactTime } from "../../../parts/texts/time.tsx";
import type { PageProps } from "../../../page-table.ts";
import { apiPathOfCall } from "../call-acts.ts";
import { functionOfCall, shortId } from "../call-words.tsx";
import { CallActionsPanel } from "./call-actions.tsx";
import { CallFactList } from "./call-facts.tsx";
import { CallLogs } from "./call-logs.tsx";
import { KeptRequestPanel } from "./kept-request.tsx";
import { ResultPanel } from "./result-panel.tsx";
import { TimelinePanel } from "./timeline-panel.tsx";

/** Everything that is known of one call, and what can be done with it. */
export function OneCallPage({ params: { id = "" } }: PageProps) {
  const { requests } = useConsole();
  const loaded = useLoaded(`call ${id}`, (signal) =>
    requests.get<CallDetail>(apiPathOfCall(id), { signal, act: `show call "${id}"` }),
  );
  const told = useSignal<CallDetail | undefined>(undefined);
  const fault = useSignal<string | undefined>(undefined);
  useTopic(`call:${id}`, {
    event: (_name, data) => {
      fault.value = undefined;
      told.value = (data as CallDetailEvent).call;
    },
    fault: (code, sentence) => {
      fault.value = sentence;
      // It was removed meanwhile.
      if (code === "call_not_found" && told.peek() !== undefined) {
        told.value = undefined;
        loaded.reload();
      }
    },
    poll: async () => loaded.reload(),
  });
  // What the stream said is newer than what was read, until it is read again.
  const state = useComputed(() => ({ ...loaded.state.value, value: told.value ?? loaded.state.value.value }));
  const call = state.value.value;
  return (
    <>
      <PageHead
        title={`Call ${shortId(id)}`}
        above={
          <>
            <a href={pageLink.calls()}>Calls</a>
            {call !== undefined && (
              <>
                {" of "}
                <a href={pageLink.calls({ function: functionOfCall(call) })}>
                  <Shown text={functionOfCall(call)} />
                </a>
              </>
            )}
          </>
        }
      >
        <code class="call-id">
          <Shown text={id} />
        </code>
        <CopyButton text={id} label="Copy id" />
      </PageHead>
      {fault.value !== undefined && call !== undefined && (
        <Note tone="warn">
          <Shown text={fault.value} />
        </Note>
      )}
      <LoadedView state={state} what="the call">
        {(known) => (
          <CallView
            call={known}
            onActed={() => {
              told.value = undefined;
              loaded.reload();
            }}
          />
        )}
      </LoadedView>
    </>
  );
}

function CallView({ call, onActed }: { readonly call: CallDetail; readonly onActed: () => void }) {
  const { history } = call;
  return (
    <>
      {history.gaps.map(({ from, to }) => (
        <Note key={from} tone="warn">
          The history has a gap from <ExactTime at={from} /> to <ExactTime at={to} />: what is shown may lack steps
        </Note>
      ))}
      {!history.complete && (
        <Note tone="warn">
          The history does not answer or is behind: this is what the call's record says, without its log lines
        </Note>
      )}
      <CallFactList call={call} />
      <CallActionsPanel call={call} onActed={onActed} />
      <div class="columns call-columns">
        <TimelinePanel call={call} />
        <CallLogs call={call} />
      </div>
      <div class="columns">
        <KeptRequestPanel call={call} />
        <ResultPanel call={call} />
      </div>
    </>
  );
}
