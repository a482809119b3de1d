import { useSignal, type Signal } from "@preact/signals";

import type { CallSummary } from "../../../../api/schemas/history/call-summary.ts";
import { useConsole } from "../../../data/console-context.ts";
import { countOf, countWords } from "../../../data/words/number-words.ts";
import { commandLine } from "../../../data/words/shell-word.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { sendCancel, sendRedrive, sendReplay } from "../call-acts.ts";
import { mostAtOnce } from "../many/act-on-many.ts";
import { ManyDialog } from "../many/many-dialog.tsx";

type Act = "cancel" | "redrive" | "replay";

interface ActWords {
  readonly verb: string;
  readonly done: string;
  readonly what: string;
  readonly command: (ids: readonly string[]) => string;
}

/** One command line for each: it takes one id. */
const each =
  (...words: readonly string[]) =>
  (ids: readonly string[]) =>
    ids.map((id) => commandLine([...words, id])).join("\n");

const acts: Readonly<Record<Act, ActWords>> = {
  cancel: {
    verb: "Cancel",
    done: "cancelled",
    what: "No run of them starts afterwards; one that runs is cut. Calls that have ended are refused.",
    command: each("weir", "calls", "cancel"),
  },
  redrive: {
    verb: "Redrive",
    done: "queued again",
    what: "Their dead letters are queued again, under the same ids. Calls without a dead letter are refused.",
    command: (ids) => commandLine(["weir", "dead-letters", "redrive", ...ids]),
  },
  replay: {
    verb: "Replay",
    done: "queued as new calls",
    what: "Each is queued anew, as another call of its function as it is now. Calls whose request was not kept are refused.",
    command: each("weir", "calls", "replay"),
  },
};

export interface ManyCallsProps {
  /** Those that are shown. */
  readonly calls: readonly CallSummary[];
  /** Ids. */
  readonly selected: Signal<ReadonlySet<string>>;
  readonly onActed: () => void;
}

/** What can be done with the calls that are selected; a bar at the end of the window. */
export function ManyCalls({ calls, selected, onActed }: ManyCallsProps) {
  const { requests, session } = useConsole();
  const asked = useSignal<Act | undefined>(undefined);
  const chosen = calls.filter(({ callId }) => selected.value.has(callId));
  const offered: readonly Act[] = [
    "cancel",
    ...(session.may("Queue:Redrive") ? (["redrive"] as const) : []),
    ...(session.may("Call:Replay") ? (["replay"] as const) : []),
  ];
  const selectable = calls.slice(0, mostAtOnce);
  const off = chosen.length > mostAtOnce ? `At most ${mostAtOnce} at once` : undefined;
  const act = asked.value;
  return (
    <>
      {chosen.length > 0 && (
        <div class="chosen" role="region" aria-label="Selected calls">
          <p role="status">{countWords(chosen.length)} selected</p>
          <div class="row-of-buttons">
            {offered.map((one) => (
              <Button key={one} off={off} onClick={() => (asked.value = one)}>
                {acts[one].verb}…
              </Button>
            ))}
            <Button
              look="quiet"
              off={chosen.length >= selectable.length ? "All that are read are selected" : undefined}
              onClick={() => (selected.value = new Set(selectable.map(({ callId }) => callId)))}
            >
              Select {countWords(selectable.length)}
            </Button>
            <Button look="quiet" onClick={() => (selected.value = new Set())}>
              Select none
            </Button>
          </div>
        </div>
      )}
      {act !== undefined && (
        <ManyDialog
          title={`${acts[act].verb} ${countOf(chosen.length, "call")}`}
          items={chosen}
          nameOf={({ callId }) => callId}
          done={acts[act].done}
          isDanger={act === "cancel"}
          command={acts[act].command(chosen.map(({ callId }) => callId))}
          act={(call) => actOn(act, call)}
          onClose={(acted) => {
            asked.value = undefined;
            if (!acted) return;
            selected.value = new Set();
            onActed();
          }}
        >
          <p>{acts[act].what}</p>
        </ManyDialog>
      )}
    </>
  );

  async function actOn(what: Act, call: CallSummary): Promise<unknown> {
    switch (what) {
      case "cancel":
        return sendCancel(requests, call);
      case "redrive":
        return sendRedrive(requests, call);
      case "replay":
        return sendReplay(requests, call);
      default:
        return what satisfies never;
    }
  }
}
