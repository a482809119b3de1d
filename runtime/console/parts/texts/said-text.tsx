import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Shortest time between two things that are read aloud, milliseconds. */
const saidEvery = 5_000;

/** A count that changes: it is shown at once, and read aloud at most every 5 s. */
export function SaidText({ text }: { readonly text: string }) {
  const said = useSignal(text);
  const last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + saidEvery - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      said.value = text;
    }, wait);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <>
      <span aria-hidden="true">{text}</span>
      <span class="hidden" role="status">
        {said}
      </span>
    </>
  );
}
