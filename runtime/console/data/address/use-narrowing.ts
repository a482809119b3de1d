import { useComputed, type ReadonlySignal } from "@preact/signals";
import { useCallback } from "preact/hooks";

import { useConsole } from "../console-context.ts";

/** One member of the address's query that narrows the page, and what changes it; absent = `fallback`. */
export function useNarrowing(
  name: string,
  fallback = "",
): readonly [value: ReadonlySignal<string>, change: (value: string) => void] {
  const { address } = useConsole();
  const value = useComputed(() => address.place.value.query.get(name) ?? fallback);
  const change = useCallback(
    (next: string) => address.narrow({ [name]: next === fallback ? undefined : next }),
    [address, name, fallback],
  );
  return [value, change];
}
