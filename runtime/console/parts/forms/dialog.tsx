import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

import { Button } from "./button.tsx";

export interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** It was closed, by Escape or the button. */
  readonly onClose: () => void;
  /** wide: for what has two columns. */
  readonly size?: "small" | "wide";
  /** Whether it can be left without an answer. */
  readonly closes?: boolean;
}

/** A dialog over the page, open while it is rendered. Focus goes back to where it was. */
export function Dialog({ title, children, onClose, size = "small", closes = true }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the effects of what is in it, which may want the focus.
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog dialog-${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (closes) onClose();
      }}
    >
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        {closes && (
          <Button look="quiet" label="Close" onClick={onClose}>
            <span aria-hidden="true">✕</span>
          </Button>
        )}
      </header>
      {children}
    </dialog>
  );
}

/** The buttons at the end of a dialog, the one that does it last. */
export function DialogButtons({ children }: { readonly children: ComponentChildren }) {
  return <div class="dialog-buttons">{children}</div>;
}
