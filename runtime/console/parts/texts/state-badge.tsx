import type { ComponentChildren } from "preact";

/** What a state means for who looks: each has a colour and a shape of its own. */
export type Tone = "good" | "busy" | "warn" | "bad" | "off";

/** Shapes in a square of 12. */
const shapes: Readonly<Record<Tone, string>> = {
  good: "M6 1.500a4.500 4.500 0 1 0 0 9a4.500 4.500 0 1 0 0-9z",
  busy: "M6 1.500a4.500 4.500 0 1 1-4.500 4.500h2.200a2.300 2.300 0 1 0 2.300-2.300z",
  warn: "M6 1l5.200 9.500h-10.400z",
  bad: "M3.600 1h4.800l2.600 2.600v4.800l-2.600 2.600h-4.800l-2.600-2.600v-4.800z",
  off: "M2 5h8v2h-8z",
};

/** A state in words, with a shape and a colour. */
export function StateBadge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`badge tone-${tone}`}>
      <svg class="badge-shape" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        <path d={shapes[tone]} fill="currentColor" />
      </svg>
      <span>{children}</span>
    </span>
  );
}
