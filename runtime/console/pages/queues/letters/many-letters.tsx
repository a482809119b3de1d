import { useSignal, type Signal } from "@preact/signals";

import { useConsole } from "../../../data/console-context.ts";
import { countOf, countWords } from "../../../data/words/number-words.ts";
import { commandLine } from "../../../data/words/shell-word.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { deleteLetter, sendRedrive } from "../../calls/call-acts.ts";
import { ManyDialog } from "../../calls/many/many-dialog.tsx";
import type { LetterOfQueue } from "./read-letters.ts";

export interface ManyLettersProps {
  /** Those that fit the filter. */
  readonly letters: readonly LetterOfQueue[];
  /** Ids. */
  readonly selected: Signal<ReadonlySet<string>>;
  /** Options of the command that stand for the filter. */
  readonly command: readonly string[];
  readonly onActed: () => void;
}

interface Asked {
  readonly act: "redrive" | "delete";
  readonly letters: readonly LetterOfQueue[];
  readonly isAll: boolean;
}

/** What can be done with dead letters: with those that are selected, else with all of the filter. */
export function ManyLetters({ letters, selected, command, onActed }: ManyLettersProps) {
  const { requests, session } = useConsole();
  const asked = useSignal<Asked | undefined>(undefined);
  const chosen = letters.filter(({ callId }) => selected.value.has(callId));
  const isAll = chosen.length === 0;
  const meant = isAll ? letters : chosen;
  const which = isAll ? `all ${countWords(meant.length)}` : countWords(meant.length);
  const current = asked.value;
  const verb = current?.act === "delete" ? "Delete" : "Redrive";
  if (letters.length === 0 && current === undefined) return null;
  return (
    <>
      <div class="chosen" role="region" aria-label="Act on dead letters">
        <p role="status">{isAll ? "None selected" : `${countWords(chosen.length)} selected`}</p>
        <div class="row-of-buttons">
          {session.may("Queue:Redrive") && (
            <Button onClick={() => (asked.value = { act: "redrive", letters: meant, isAll })}>Redrive {which}…</Button>
          )}
          {session.may("Queue:Delete") && (
            <Button look="danger" onClick={() => (asked.value = { act: "delete", letters: meant, isAll })}>
              Delete {which}…
            </Button>
          )}
          {!isAll && (
            <Button look="quiet" onClick={() => (selected.value = new Set())}>
              Select none
            </Button>
          )}
        </div>
      </div>
      {current !== undefined && (
        <ManyDialog
          title={`${verb} ${countOf(current.letters.length, "dead letter")}`}
          items={current.letters}
          nameOf={({ callId }) => callId}
          done={current.act === "delete" ? "deleted" : "queued again"}
          isDanger={current.act === "delete"}
          command={commandLine([
            "weir",
            "dead-letters",
            current.act,
            ...(current.isAll ? ["--all", ...command] : current.letters.map(({ callId }) => callId)),
          ])}
          act={(letter) => (current.act === "delete" ? deleteLetter(requests, letter) : sendRedrive(requests, letter))}
          onClose={(acted) => {
            asked.value = undefined;
            if (!acted) return;
            selected.value = new Set();
            onActed();
          }}
        >
          <p>
            {current.act === "delete"
              ? "These calls never run again, and their requests are gone."
              : "They are queued again under the same ids, with as many retries as at first. Where only a callback was given up, it is sent again."}
          </p>
        </ManyDialog>
      )}
    </>
  );
}
