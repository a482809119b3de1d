import type { ComponentChildren, Ref } from "preact";

import { useConsole } from "../../data/console-context.ts";

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (() => unknown) | undefined;
  /** main: the one thing to do here; danger: it destroys something; quiet: without a frame. */
  readonly look?: "main" | "danger" | "plain" | "quiet";
  readonly type?: "button" | "submit";
  /** Why it cannot be pressed: it stays there and in the order of focus, and says so. */
  readonly off?: string | undefined;
  /** It was pressed, and what it does goes on. */
  readonly busy?: boolean;
  /** What it does, where its content does not say it. */
  readonly label?: string | undefined;
  readonly pressed?: boolean | undefined;
  readonly expanded?: boolean | undefined;
  /** It works while the gateway is away, although it is the main one of its place. */
  readonly local?: boolean;
  readonly buttonRef?: Ref<HTMLButtonElement>;
}

/** Something to press. */
export function Button(props: ButtonProps) {
  const { children, onClick, look = "plain", type = "button", off, busy = false, label } = props;
  const { connection } = useConsole();
  const changes = look === "main" || look === "danger" || type === "submit";
  const isAway = changes && props.local !== true && connection.state.value.kind === "away";
  const why = isAway ? "The gateway is away" : off;
  const isOff = why !== undefined || busy;
  return (
    <button
      ref={props.buttonRef ?? null}
      // oxlint-disable-next-line react/button-has-type -- it is one of two
      type={type}
      class={`button button-${look}`}
      aria-disabled={isOff}
      aria-busy={busy}
      aria-label={label}
      aria-pressed={props.pressed}
      aria-expanded={props.expanded}
      title={why ?? label}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else void onClick?.();
      }}
    >
      {children}
    </button>
  );
}
