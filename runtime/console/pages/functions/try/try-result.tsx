import { header } from "../../../../api/names.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useConsole } from "../../../data/console-context.ts";
import { functionKeyOf } from "../../../data/functions/function-of-page.ts";
import { durationWords } from "../../../data/time/duration-words.ts";
import { sizeWords } from "../../../data/words/number-words.ts";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { Facts, Figures } from "../../../parts/texts/sentence.tsx";
import { Shown } from "../../../parts/texts/shown.tsx";
import type { Tone } from "../../../parts/texts/state-badge.tsx";
import { ReplyBody } from "./reply-body.tsx";
import { headerOf } from "./try-call.ts";
import type { TriedPhase, TryState } from "./use-tried-call.ts";

/** How a tried call went. */
export function TryResult({ state }: { readonly state: TryState }) {
  switch (state.kind) {
    case "idle":
      return <p class="muted">Call the function to see what it says.</p>;
    case "running":
      return (
        <div class="stack">
          <p role="status">
            {state.wakes ? "No replica was ready: the call wakes one and waits for it." : "The call is on its way."}
          </p>
          <Phases phases={state.phases} />
        </div>
      );
    case "failed":
      return (
        <div class="stack">
          <FailureNote failure={state.failure} />
          <Phases phases={state.phases} />
        </div>
      );
    case "replied":
      return <Replied {...state} />;
    default:
      return state satisfies never;
  }
}

function Replied({ call, reply, ms, wakes, phases }: Extract<TryState, { readonly kind: "replied" }>) {
  const { session } = useConsole();
  const id = headerOf(reply, header.callId);
  const took = headerOf(reply, header.durationSeconds);
  const { status, headers, body, truncated } = reply;
  return (
    <div class="stack">
      <Figures
        rows={[
          { name: "Status", value: String(status), tone: statusTone(status) },
          { name: "Time", value: durationWords(ms) },
          ...(took === undefined ? [] : [{ name: "In the function", value: durationWords(Number(took) * 1_000) }]),
          ...(wakes && !call.queued ? [{ name: "Cold start", value: "Yes" }] : []),
          { name: "Body", value: sizeWords(body.byteLength) },
        ]}
      />
      {call.queued && id !== undefined && status === 202 && (
        <Note tone="good">
          The call is queued.{" "}
          {session.may("Call:Get") ? <a href={pageLink.call(id)}>Watch it run</a> : <>Its id is {id}.</>}
        </Note>
      )}
      <Phases phases={phases} />
      {truncated && <Note tone="warn">The reply went on: only its begin is here.</Note>}
      <ReplyBody body={body} fileName={`${functionKeyOf(call.named)}.bin`} />
      <details>
        <summary>{headers.length} headers</summary>
        <Facts
          rows={headers.map(([name, value], index) => [
            `${name}${repeats(headers, index)}`,
            <Shown key={name} text={value} />,
          ])}
        />
      </details>
      {!call.queued && id !== undefined && (
        <p class="muted">
          Call <code>{id}</code>
          {session.may("Function:Logs") && (
            <>
              {" · "}
              <a href={`${pageLink.function(call.named.namespace, call.named.name, "logs")}?call=${id}`}>
                Its log lines
              </a>
            </>
          )}
        </p>
      )}
    </div>
  );
}

/** What happened while the call waited; nothing where the reply came at once. */
function Phases({ phases }: { readonly phases: readonly TriedPhase[] }) {
  if (phases.length < 2) return null;
  return (
    <ol class="phases">
      {phases.map(({ after, what }) => (
        <li key={what}>
          <span class="number muted">{durationWords(after)}</span> <Shown text={what} />
        </li>
      ))}
    </ol>
  );
}

/** Names of facts are their keys. */
function repeats(headers: readonly (readonly [string, string])[], index: number): string {
  const name = headers[index]?.[0];
  const before = headers.slice(0, index).filter(([each]) => each === name).length;
  return before === 0 ? "" : ` (${before + 1})`;
}

export function statusTone(status: number): Tone {
  if (status >= 500) return "bad";
  return status >= 400 ? "warn" : "good";
}
