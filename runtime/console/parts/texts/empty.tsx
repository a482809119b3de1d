import type { ComponentChildren } from "preact";

/** What stands where a list would be: why there is nothing, and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty stack">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
