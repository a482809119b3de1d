import { computed, useComputed, useSignal, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { pageLink } from "../../../data/address/page-links.ts";
import { useNarrowing } from "../../../data/address/use-narrowing.ts";
import { useNarrowedText } from "../../../data/address/use-narrowed-text.ts";
import { useConsole } from "../../../data/console-context.ts";
import { functionKeyOf, type FunctionOfPage } from "../../../data/functions/function-of-page.ts";
import { countOf } from "../../../data/words/number-words.ts";
import { commandLine } from "../../../data/words/shell-word.ts";
import type { PageProps } from "../../../page-table.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { SelectField, TextField } from "../../../parts/forms/field.tsx";
import { Waiting } from "../../../parts/layout/loaded-view.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { Empty } from "../../../parts/texts/empty.tsx";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { SaidText } from "../../../parts/texts/said-text.tsx";
import { Code, Shown } from "../../../parts/texts/shown.tsx";
import { ExactTime } from "../../../parts/texts/time.tsx";
import { FunctionFrame } from "../function-frame.tsx";
import { namedOf } from "../named-of.ts";
import { save } from "../try/reply-body.tsx";
import { lineOfPart, momentOfLine, type ShownLine } from "./log-line.ts";
import { narrowLines } from "./shown-lines.ts";
import { LogScroller } from "./log-scroller.tsx";
import { useLog } from "./use-log.ts";

/** What a function writes. */
export function LogsPage({ params }: PageProps) {
  const named = namedOf(params);
  return (
    <FunctionFrame named={named} tab="logs">
      {() => <LogPanel named={named} />}
    </FunctionFrame>
  );
}

function LogPanel({ named }: { readonly named: FunctionOfPage }) {
  const { address, session } = useConsole();
  const [call, changeCall] = useNarrowing("call");
  const [replica, changeReplica] = useNarrowing("replica");
  const [wrap, changeWrap] = useNarrowing("wrap", "yes");
  const find = useNarrowedText("q");
  // A line that is linked to while the page is open is in it already.
  const linked = lineOfPart(address.place.value.part);
  const around = useSignal(momentOfLine(address.place.peek().part));
  const { lines, failure, less, since, skipped, older } = useLog({ named, call: call.value, around: around.value });
  const shown = useComputed(() =>
    narrowLines(lines.lines.value, { replica: replica.value, text: find.narrowed.value }),
  );
  // These change less often than the lines, so that most lines render their list alone.
  const replicas = useMemo(() => computed(() => replicasOf(lines.lines.value).join(" ")), [lines]);
  const isEmpty = useMemo(() => computed(() => lines.lines.value.length === 0), [lines]).value;
  return (
    <div class="stack">
      <div class="filters">
        <TextField label="Find" value={find.typed} type="search" placeholder="Text in a line" />
        <SelectField
          label="Replica"
          value={replica.value}
          choices={[
            ["", "All"],
            ...[...new Set([...replicas.value.split(" "), replica.value].filter(Boolean))].map(
              (each) => [each, each] as const,
            ),
          ]}
          onChange={changeReplica}
        />
        <div class="row-of-buttons">
          <Button pressed={wrap.value === "yes"} onClick={() => changeWrap(wrap.value === "yes" ? "no" : "yes")}>
            Wrap
          </Button>
          <Button
            onClick={() => save(new TextEncoder().encode(logFileText(shown.value)), `${functionKeyOf(named)}.log`)}
          >
            Download
          </Button>
        </div>
      </div>
      {call.value !== "" && (
        <Note tone="busy">
          Only lines of call{" "}
          {session.may("Call:Get") ? (
            <a href={pageLink.call(call.value)}>
              <Code text={call.value} />
            </a>
          ) : (
            <Code text={call.value} />
          )}
          .{" "}
          <Button look="quiet" onClick={() => changeCall("")}>
            Show all
          </Button>
        </Note>
      )}
      {around.value !== undefined && (
        <Note tone="busy">
          Lines around <ExactTime at={around.value} />.{" "}
          <Button look="quiet" onClick={() => (around.value = undefined)}>
            Show the last ones
          </Button>
        </Note>
      )}
      {failure.value !== undefined && <FailureNote failure={failure.value} />}
      {less.value !== undefined && (
        <Note tone="warn">
          <Shown text={less.value.message} />
        </Note>
      )}
      {skipped.value > 0 && (
        <Note tone="warn">
          {countOf(skipped.value, "line")} came too fast to be shown; a download by command has them
        </Note>
      )}
      <div class="log-head">
        <p class="muted">
          <LineCount all={lines.lines} shown={shown} />
        </p>
        {call.value === "" && !isEmpty && (
          <Button look="quiet" busy={since.value !== undefined} onClick={older}>
            Older lines
          </Button>
        )}
      </div>
      {isEmpty && since.value !== undefined && <Waiting since={since.value} what="the log" />}
      {isEmpty && since.value === undefined && failure.value === undefined && (
        <Empty title={call.value === "" ? "Nothing was logged yet" : "No line of this call is kept"}>
          <p>What the function writes to standard output and standard error shows up here.</p>
        </Empty>
      )}
      {!isEmpty && (
        <LogScroller
          lines={shown}
          text={find.narrowed.value}
          wrap={wrap.value === "yes"}
          isLive={around.value === undefined}
          linked={linked}
        />
      )}
      <SameCommand
        command={commandLine([
          "weir",
          "logs",
          functionKeyOf(named),
          ...(call.value === "" ? ["--follow"] : ["--call", call.value]),
          ...(replica.value === "" ? [] : ["--instance", replica.value]),
        ])}
      />
    </div>
  );
}

interface LineCountProps {
  readonly all: ReadonlySignal<readonly ShownLine[]>;
  readonly shown: ReadonlySignal<readonly ShownLine[]>;
}

function LineCount({ all, shown }: LineCountProps) {
  const [known, count] = [countOf(all.value.length, "line"), shown.value.length];
  return <SaidText text={count === all.value.length ? known : `${count} of ${known}`} />;
}

/** Names of the replicas that wrote lines; no name has a space in it. */
function replicasOf(lines: readonly ShownLine[]): readonly string[] {
  return [...new Set(lines.map(({ record }) => record.instance))].toSorted();
}

/** Lines as a text file. */
export function logFileText(lines: readonly ShownLine[]): string {
  return lines
    .map(({ record: { timestamp, instance, text } }) => `${timestamp} ${instance} ${text.replace(/\n?$/, "\n")}`)
    .join("");
}
