import { signal, type ReadonlySignal } from "@preact/signals";

/** Whether somebody looks at the page. */
export function pageVisible(document: Document): ReadonlySignal<boolean> {
  const visible = signal(document.visibilityState !== "hidden");
  document.addEventListener("visibilitychange", () => {
    visible.value = document.visibilityState !== "hidden";
  });
  return visible;
}
