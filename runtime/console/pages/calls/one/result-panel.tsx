import { useSignal } from "@preact/signals";

import { tryHeader } from "../../../../api/names.ts";
import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import { sizeWords } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { LoadedView } from "../../../parts/layout/loaded-view.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { Time } from "../../../parts/texts/time.tsx";
import { ReplyBody } from "../../functions/try/reply-body.tsx";
import { HeaderTable } from "./header-list.tsx";

/** What a function replied to a queued call, shown to who may see it and asks for it. */
export function ResultPanel({ call }: { readonly call: CallDetail }) {
  const { session } = useConsole();
  const asked = useSignal(false);
  const { callId, result, kind, endedAt } = call;
  if (kind === "sync" || result === undefined) {
    const why = kind === "sync" ? "It went to who sent the request, and was not kept." : "The call has no result.";
    return (
      <Panel title="Result">
        <p>{kind === "async" && endedAt === undefined ? "The call has not ended." : why}</p>
      </Panel>
    );
  }
  const { status, size, stored, expiresAt } = result;
  return (
    <Panel title="Result">
      <p class="muted">
        Status {status}, {sizeWords(size)}
        {stored ? (
          <>
            ; removed <Time at={expiresAt} />
          </>
        ) : (
          "; outputs over 1 MiB are not kept"
        )}
      </p>
      {stored &&
        session.may("Call:Payload") &&
        (asked.value ? (
          <Result callId={callId} />
        ) : (
          <div>
            <Button onClick={() => (asked.value = true)}>Show the result</Button>
          </div>
        ))}
      {stored && <SameCommand command={`weir calls result ${callId}`} />}
    </Panel>
  );
}

interface ReadResult {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: readonly (readonly [string, string])[];
  readonly isCut: boolean;
}

function Result({ callId }: { readonly callId: string }) {
  const { requests } = useConsole();
  const loaded = useLoaded(`result of ${callId}`, async (signal): Promise<ReadResult> => {
    const response = await requests.open("GET", `/ui/result/${encodeURIComponent(callId)}`, {
      headers: { [tryHeader.page]: "1" },
      signal,
      act: `show the result of call "${callId}"`,
    });
    return {
      bytes: new Uint8Array(await response.arrayBuffer()),
      headers: JSON.parse(response.headers.get(tryHeader.headers) ?? "[]") as ReadResult["headers"],
      isCut: response.headers.get(tryHeader.truncated) === "true",
    };
  });
  return (
    <LoadedView state={loaded.state} what="the result">
      {({ bytes, headers, isCut }) => (
        <div class="stack">
          <HeaderTable pairs={headers} />
          {isCut && <Note tone="warn">The output is longer than what is shown to pages</Note>}
          <ReplyBody body={bytes} fileName={`${callId}.result`} />
        </div>
      )}
    </LoadedView>
  );
}
