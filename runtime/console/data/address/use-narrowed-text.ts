import { useSignal, useSignalEffect, type ReadonlySignal, type Signal } from "@preact/signals";
import { useRef } from "preact/hooks";

import { useConsole } from "../console-context.ts";

/** A pause in typing after which the address follows, milliseconds. */
const typingPause = 200;

/** A text of the address's query that is typed: the page follows at once, the address after a pause. */
export function useNarrowedText(name: string): {
  readonly typed: Signal<string>;
  readonly narrowed: ReadonlySignal<string>;
} {
  const { address } = useConsole();
  const typed = useSignal(address.place.peek().query.get(name) ?? "");
  const known = useRef(typed.peek());
  useSignalEffect(() => {
    const value = address.place.value.query.get(name) ?? "";
    // What this field put there itself may be older than what was typed since.
    if (value === known.current) return;
    // Back and forward, and links, change it from outside.
    known.current = value;
    typed.value = value;
  });
  useSignalEffect(() => {
    const { value } = typed;
    const timer = setTimeout(() => {
      known.current = value;
      if ((address.place.peek().query.get(name) ?? "") !== value) address.narrow({ [name]: value });
    }, typingPause);
    return () => clearTimeout(timer);
  });
  return { typed, narrowed: typed };
}
