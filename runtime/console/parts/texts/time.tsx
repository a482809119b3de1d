import { useComputed } from "@preact/signals";

import { useConsole } from "../../data/console-context.ts";
import { durationWords } from "../../data/time/duration-words.ts";
import { exactTime, timeWords } from "../../data/time/time-words.ts";

/** A time in words, kept current; the exact one on focus and hover. `at`: RFC 3339, or milliseconds since 1970. */
export function Time({ at }: { readonly at: string | number }) {
  const { clock } = useConsole();
  const moment = typeof at === "number" ? at : Date.parse(at);
  const words = useComputed(() => timeWords(moment, clock.now.value, clock.zone.value));
  if (!Number.isFinite(moment)) return <span class="muted">unknown</span>;
  const exact = exactTime(moment, clock.zone.value);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the exact time shows on focus, too
    <time class="tip" tabIndex={0} dateTime={new Date(moment).toISOString()} title={exact} data-tip={exact}>
      {words}
    </time>
  );
}

/** The exact time, where the words would say too little. */
export function ExactTime({ at }: { readonly at: string | number }) {
  const { clock } = useConsole();
  const moment = typeof at === "number" ? at : Date.parse(at);
  return <time dateTime={new Date(moment).toISOString()}>{exactTime(moment, clock.zone.value)}</time>;
}

/** A length of time, seconds; `–` where it is not known. */
export function Duration({ seconds }: { readonly seconds: number | undefined }) {
  if (seconds === undefined) return <span class="muted">–</span>;
  return <span class="number">{durationWords(seconds * 1_000)}</span>;
}
