import { useEffect, useMemo } from "preact/hooks";

import { useConsole } from "../console-context.ts";
import type { Shortcut } from "./shortcuts.ts";

/** Adds shortcuts while the component is there; what they do may differ at each render, keys and words may not. */
export function useShortcuts(wanted: readonly Shortcut[]): void {
  const { shortcuts } = useConsole();
  const latest = useMemo(() => ({ wanted }), []);
  latest.wanted = wanted;
  useEffect(
    () =>
      shortcuts.add(
        latest.wanted.map(({ keys, what }, index) => ({ keys, what, act: () => latest.wanted[index]?.act() })),
      ),
    [shortcuts],
  );
}
