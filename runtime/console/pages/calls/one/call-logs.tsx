import { useEffect } from "preact/hooks";

import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import type { CallLogLine } from "../../../../api/schemas/history/call-log-line.ts";
import { useConsole } from "../../../data/console-context.ts";
import { readJsonLines } from "../../../data/requests/read-lines.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import { clockTime } from "../../../data/time/time-words.ts";
import { ansiRuns } from "../../../data/words/ansi-runs.ts";
import { countOf, countWords, sizeWords } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { LoadedView } from "../../../parts/layout/loaded-view.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { Shown } from "../../../parts/texts/shown.tsx";
import { apiPathOfCall } from "../call-acts.ts";
import { save } from "../../functions/try/reply-body.tsx";

/** Most lines that are shown; the others are in the file. */
const mostLines = 1_000;
/** Most characters of a line that are shown. */
const mostCharacters = 4_000;
/** A line is there about two seconds after it was written, milliseconds. */
const linesAfter = 3_000;
/** How often the lines of a call that goes on are read, milliseconds. */
const readEvery = 5_000;

/** What the function logged during a call, beside its timeline. */
export function CallLogs({ call }: { readonly call: CallDetail }) {
  const { requests, session } = useConsole();
  const { callId } = call;
  const may = session.may("Function:Logs");
  const lines = useLoaded(`lines of ${callId} ${may && call.logs.kept}`, async (signal) => {
    if (!may || !call.logs.kept) return [];
    const act = `read the logs of call "${callId}"`;
    const response = await requests.open("GET", `${apiPathOfCall(callId)}/logs`, { signal, act });
    return await Array.fromAsync(readJsonLines<CallLogLine>(response));
  });
  const isOpen = call.endedAt === undefined;
  useEffect(() => {
    if (isOpen) {
      const timer = setInterval(() => document.visibilityState === "hidden" || lines.reload(), readEvery);
      return () => clearInterval(timer);
    }
    // What came before is older than this visit, but for a call that ended just now.
    const timer = setTimeout(() => lines.reload(), linesAfter);
    return () => clearTimeout(timer);
  }, [isOpen, call.attempts.length, call.logs.lines]);
  if (!may) return null;
  return (
    <Panel title="Logs" bare>
      {call.logs.kept ? (
        <LoadedView state={lines.state} what="the lines">
          {(read) =>
            read.length === 0 ? (
              <p class="inset muted">No line belongs to this call</p>
            ) : (
              <Lines id={callId} lines={read} />
            )
          }
        </LoadedView>
      ) : (
        <p class="inset">
          No lines are kept; the setting <code>kept_logs</code> turns that on
        </p>
      )}
      <div class="inset">
        <SameCommand command={`weir calls logs ${callId}`} />
      </div>
    </Panel>
  );
}

function Lines({ id, lines }: { readonly id: string; readonly lines: readonly CallLogLine[] }) {
  const { clock } = useConsole();
  const shown = lines.slice(0, mostLines);
  const isGuess = shown.some(({ match }) => match === "window");
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it */}
      <div class="call-lines" role="region" aria-label="Lines" tabIndex={0}>
        {shown.map(({ timestamp, text, stream, match, instance }, index) => (
          <div key={index} class={stream === "stderr" ? "call-line line-err" : "call-line"}>
            <span class="muted" title={instance}>
              {clockTime(Date.parse(timestamp), clock.zone.value)}
              {match === "window" && " ~"}
              {stream === "stderr" && <span class="hidden"> standard error</span>}
            </span>
            <LineText text={text} />
          </div>
        ))}
      </div>
      <div class="inset list-end">
        <span class="muted">
          {countOf(lines.length, "line")}
          {lines.length > mostLines && `, the first ${countWords(mostLines)} are shown`}
          {isGuess && "; ~ was written while the call ran, by its replica"}
        </span>
        <Button onClick={() => save(new TextEncoder().encode(lines.map(lineOfFile).join("")), `${id}.log`)}>
          Download
        </Button>
      </div>
    </>
  );
}

function lineOfFile({ timestamp, text }: CallLogLine): string {
  return `${timestamp} ${text.endsWith("\n") ? text : `${text}\n`}`;
}

/** One line: colours by classes, everything else as text. */
function LineText({ text }: { readonly text: string }) {
  const line = text.replace(/\r?\n$/, "");
  const isLong = line.length > mostCharacters;
  return (
    <span class="line-text" dir="auto">
      {ansiRuns(isLong ? line.slice(0, mostCharacters) : line).map((run, index) => (
        <span key={index} class={run.classes}>
          <Shown text={run.text} />
        </span>
      ))}
      {isLong && <span class="muted"> … {sizeWords(line.length)} in all</span>}
    </span>
  );
}
