import type { ComponentChildren } from "preact";

import type { Tone } from "./state-badge.tsx";

export interface NoticeBarProps {
  readonly tone: Exclude<Tone, "off">;
  readonly children: ComponentChildren;
  /** A button or a link. */
  readonly act?: ComponentChildren;
}

/** Something about the whole page, above it. It is read aloud when it appears. */
export function NoticeBar({ tone, children, act }: NoticeBarProps) {
  return (
    <div class={`notice tone-${tone}`} role="status">
      <div class="notice-words">{children}</div>
      {act}
    </div>
  );
}

/** Something about one panel, in it. */
export function Note({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <p class={`note tone-${tone}`}>
      <span>{children}</span>
    </p>
  );
}
