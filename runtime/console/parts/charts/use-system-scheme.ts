import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Whether the system wants dark pages; it may change its mind in the evening. */
export function useSystemScheme(): ReadonlySignal<boolean> {
  const dark = useSignal(false);
  useEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const follow = (): void => void (dark.value = query.matches);
    follow();
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return dark;
}
