import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { FunctionStatus } from "../../../../api/schemas/function-status.ts";
import { useNarrowing } from "../../../data/address/use-narrowing.ts";
import { useConsole } from "../../../data/console-context.ts";
import type { PageProps } from "../../../page-table.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { SelectField, TextField } from "../../../parts/forms/field.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { CopyButton } from "../../../parts/texts/copy.tsx";
import { FunctionFrame } from "../function-frame.tsx";
import { KeyValueFields } from "../edit/key-value-fields.tsx";
import { namedOf } from "../named-of.ts";
import { functionSentence } from "../status/function-sentence.ts";
import { curlLine, tryMethods, type TriedCall } from "./try-call.ts";
import { TryResult } from "./try-result.tsx";
import { useTriedCall } from "./use-tried-call.ts";

/** Calls a function and shows what it says. */
export function TryPage({ params }: PageProps) {
  return (
    <FunctionFrame named={namedOf(params)} tab="try">
      {(status) => <TryForm status={status} />}
    </FunctionFrame>
  );
}

function TryForm({ status }: { readonly status: FunctionStatus }) {
  const { session } = useConsole();
  const [method, changeMethod] = useNarrowing("method", "POST");
  const [mode, changeMode] = useNarrowing("mode", "now");
  const [pathInAddress, changePath] = useNarrowing("path");
  const path = useSignal(pathInAddress.peek());
  const headers = useSignal<Readonly<Record<string, string>>>({});
  const body = useSignal("hello");
  const tried = useTriedCall();
  const { sentence } = functionSentence(status);
  const state = tried.state.value;
  const isRunning = state.kind === "running";
  // What the function does while the call waits: a wake from zero, above all.
  useEffect(() => tried.see(sentence), [sentence, isRunning]);
  useSignalEffect(() => changePath(path.value));
  const queued = mode.value === "queue";
  const call: TriedCall = {
    named: status,
    method: method.value,
    path: path.value,
    headers: Object.entries(headers.value),
    body: takesBody(method.value) || queued ? body.value : "",
    queued,
  };
  return (
    <div class="columns">
      <Panel title="Request">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isRunning) void tried.send(call, status.availableReplicas === 0);
          }}
        >
          <div class="filters">
            <SelectField
              label="Call it"
              value={mode.value}
              choices={[
                ["now", "At once"],
                ["queue", "Through its queue"],
              ]}
              onChange={changeMode}
            />
            {!queued && (
              <SelectField
                label="Method"
                value={method.value}
                choices={tryMethods.map((each) => [each, each] as const)}
                onChange={changeMethod}
              />
            )}
          </div>
          <TextField label="Path and query" value={path} placeholder="/" mono />
          <KeyValueFields
            one="header"
            label="Headers"
            keyHint="Content-Type"
            value={headers.peek()}
            onChange={(value) => void (headers.value = value)}
          />
          {(takesBody(method.value) || queued) && <TextField label="Body" value={body} rows={6} mono />}
          <div class="row-of-buttons">
            <Button type="submit" look="main" busy={isRunning}>
              {queued ? "Queue the call" : "Call"}
            </Button>
            {isRunning && <Button onClick={tried.cancel}>Stop waiting</Button>}
            <CopyButton text={curlLine(call, session.gateway)} label="Copy as curl" />
          </div>
        </form>
      </Panel>
      <Panel title="Reply">
        <TryResult state={state} />
      </Panel>
    </div>
  );
}

function takesBody(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}
