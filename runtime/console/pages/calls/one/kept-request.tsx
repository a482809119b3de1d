import { useSignal } from "@preact/signals";

import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import type { CallRequest } from "../../../../api/schemas/history/call-request.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import { sizeWords } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { LoadedView } from "../../../parts/layout/loaded-view.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { CopyBlock, SameCommand } from "../../../parts/texts/copy.tsx";
import { Code, Shown } from "../../../parts/texts/shown.tsx";
import { Time } from "../../../parts/texts/time.tsx";
import { apiPathOfCall } from "../call-acts.ts";
import { ReplyBody } from "../../functions/try/reply-body.tsx";
import { HeaderTable } from "./header-list.tsx";

/** The request of a call: where it is kept, and shown to who may see it and asks for it. */
export function KeptRequestPanel({ call }: { readonly call: CallDetail }) {
  const { session } = useConsole();
  const asked = useSignal(false);
  const { callId, request, kind } = call;
  if (!request.kept) {
    return (
      <Panel title="Request">
        <p>The request was not kept.</p>
        {kind === "async" && (
          <>
            <p class="muted">This annotation of the function keeps the requests of its queued calls, at most 7 days:</p>
            <CopyBlock label="Annotation" text="com.service.history.bodies: 24h" />
          </>
        )}
      </Panel>
    );
  }
  return (
    <Panel title="Request">
      <p class="muted">
        {request.size === undefined ? "Kept" : `${sizeWords(request.size)} are kept`}
        {request.expiresAt !== undefined && (
          <>
            ; removed <Time at={request.expiresAt} />
          </>
        )}
      </p>
      {session.may("Call:Payload") &&
        (asked.value ? (
          <Request callId={callId} />
        ) : (
          <div>
            <Button onClick={() => (asked.value = true)}>Show the request</Button>
          </div>
        ))}
      <SameCommand command={`weir calls request ${callId} -i`} />
    </Panel>
  );
}

function Request({ callId }: { readonly callId: string }) {
  const { requests } = useConsole();
  const loaded = useLoaded(`request of ${callId}`, (signal) =>
    requests.get<CallRequest>(`${apiPathOfCall(callId)}/request`, {
      signal,
      act: `show the request of call "${callId}"`,
    }),
  );
  return (
    <LoadedView state={loaded.state} what="the request">
      {({ method, path, query, headers, body, redacted }) => (
        <div class="stack">
          <p>
            <Code text={`${method} ${path}${query === undefined ? "" : `?${query}`}`} />
          </p>
          <HeaderTable pairs={pairsOf(headers)} />
          {redacted.length > 0 && (
            <p class="muted">
              Not kept, as they may hold credentials: <Shown text={redacted.join(", ")} />
            </p>
          )}
          <ReplyBody body={Uint8Array.fromBase64(body)} fileName={`${callId}.request`} />
        </div>
      )}
    </LoadedView>
  );
}

function pairsOf(flat: readonly string[]): readonly (readonly [string, string])[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""] as const] : []));
}
