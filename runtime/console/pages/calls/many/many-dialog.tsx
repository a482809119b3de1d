import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { useConsole } from "../../../data/console-context.ts";
import { countOf, countWords } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { Dialog, DialogButtons } from "../../../parts/forms/dialog.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { Shown } from "../../../parts/texts/shown.tsx";
import { actOnMany, type ManyProgress } from "./act-on-many.ts";
import { patiently } from "./patiently.ts";

export interface ManyDialogProps<Item> {
  /** `Cancel 3 calls`. */
  readonly title: string;
  /** What will happen. */
  readonly children: ComponentChildren;
  readonly items: readonly Item[];
  readonly nameOf: (item: Item) => string;
  /** `cancelled`. */
  readonly done: string;
  readonly isDanger?: boolean;
  readonly command?: string | undefined;
  readonly act: (item: Item) => Promise<unknown>;
  /** It was closed; `acted` = something was done. */
  readonly onClose: (acted: boolean) => void;
}

/** Asks whether to do something to many, does it, and shows how far it is, and what was refused and why. */
export function ManyDialog<Item>(props: ManyDialogProps<Item>) {
  const { title, children, nameOf, done, isDanger = false, command, act, onClose } = props;
  // What was asked about is what is done, whatever the list behind shows meanwhile.
  const items = useMemo(() => props.items, []);
  const { sent } = useConsole();
  const progress = useSignal<ManyProgress<Item> | undefined>(undefined);
  const waits = useSignal(0);
  const stop = useMemo(() => new AbortController(), []);
  useEffect(() => () => stop.abort(), [stop]);
  const begin = (): void => {
    progress.value = { total: items.length, done: 0, refused: [], isOver: false };
    void actOnMany(items, {
      signal: stop.signal,
      heard: (next) => void (progress.value = next),
      act: (item) =>
        patiently(
          () => act(item),
          stop.signal,
          (seconds) => void (waits.value = seconds),
        ),
    });
  };
  const seen = progress.value;
  const close = (): void => {
    const acted = (seen?.done ?? 0) > 0;
    if (acted && command !== undefined) sent.say({ what: title, command });
    onClose(acted);
  };
  return (
    <Dialog title={title} onClose={close}>
      <div class="stack">
        {seen === undefined ? children : <Progress progress={seen} done={done} waits={waits.value} />}
        {seen !== undefined && seen.refused.length > 0 && (
          <details open={seen.isOver}>
            <summary>{countWords(seen.refused.length)} refused</summary>
            <ul class="refused">
              {seen.refused.map(({ item, sentence }) => (
                <li key={nameOf(item)}>
                  <Shown text={sentence} />
                </li>
              ))}
            </ul>
          </details>
        )}
        {command !== undefined && <SameCommand command={command} />}
        <DialogButtons>
          {seen === undefined && <Button onClick={close}>Close</Button>}
          {seen === undefined && (
            <Button look={isDanger ? "danger" : "main"} onClick={begin}>
              {title}
            </Button>
          )}
          {seen?.isOver === false && <Button onClick={() => stop.abort()}>Stop after the current ones</Button>}
          {seen?.isOver === true && (
            <Button look="main" onClick={close}>
              Close
            </Button>
          )}
        </DialogButtons>
      </div>
    </Dialog>
  );
}

function Progress<Item>({
  progress: { total, done: count, refused, isOver },
  done,
  waits,
}: {
  readonly progress: ManyProgress<Item>;
  readonly done: string;
  readonly waits: number;
}) {
  const tried = count + refused.length;
  return (
    <div class="stack">
      <progress max={total} value={tried} aria-label={`${tried} of ${total} tried`} />
      <p role="status">
        {isOver ? `${countWords(count)} ${done}, ${countWords(refused.length)} refused` : ""}
        {isOver && tried < total ? `, ${countWords(total - tried)} left alone` : ""}
      </p>
      {!isOver && (
        <p>
          {countWords(count)} of {countWords(total)} {done}
        </p>
      )}
      {waits > 0 && <Note tone="warn">The gateway is busy: it is asked again in {countOf(waits, "second")}</Note>}
    </div>
  );
}
