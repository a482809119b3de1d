import { useSignal, useSignalEffect, type ReadonlySignal, type Signal } from "@preact/signals";

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
  useSignalEffect(() => {
    // Back and forward, and links, change it from outside.
    typed.value = address.place.value.query.get(name) ?? "";
  });
  useSignalEffect(() => {
    const { value } = typed;
    const timer = setTimeout(() => {
      if ((address.place.peek().query.get(name) ?? "") !== value) address.narrow({ [name]: value });
    }, typingPause);
    return () => clearTimeout(timer);
  });
  return { typed, narrowed: typed };
}
